//! Waits for futures on the calling thread, while a thread of the store drives its connections.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use quipu_engine::ports::StoreError;
use tokio::runtime::{Builder, Handle, Runtime};

/// The runtime of one store. It has a thread of its own, so the store works in any program, with or without a runtime.
#[derive(Debug)]
pub(crate) struct Worker {
    /// `None` only while it is dropped.
    runtime: Option<Runtime>,
    handle: Handle,
}

impl Worker {
    pub(crate) fn start() -> Result<Self, StoreError> {
        let runtime = Builder::new_multi_thread().worker_threads(1).thread_name("quipu-postgres").enable_all().build();
        let runtime = runtime
            .map_err(|error| StoreError::Unavailable(format!("cannot start a thread for PostgreSQL: {error}")))?;
        Ok(Self { handle: runtime.handle().clone(), runtime: Some(runtime) })
    }

    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Waits for a future. Unlike [`Handle::block_on`] it may be called from a thread of another runtime, which it then
    /// blocks.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        let _context = self.handle.enter();
        let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
        let mut context = Context::from_waker(&waker);
        // On a thread of another runtime the budget of its task would count here, and once it is spent nothing is ready
        // until the task yields, which it cannot do.
        let mut future = pin!(tokio::task::unconstrained(future));
        loop {
            match future.as_mut().poll(&mut context) {
                Poll::Ready(output) => return output,
                Poll::Pending => thread::park(),
            }
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A runtime that waits for its threads must not be dropped on a thread of another runtime.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs futures together and returns their outputs. Each is polled for the first time in the given order, so statements
/// are sent in this order without waiting for answers.
pub(crate) async fn in_order<'a, T>(mut futures: Vec<Pin<Box<dyn Future<Output = T> + 'a>>>) -> Vec<T> {
    let mut outputs: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    std::future::poll_fn(move |context| {
        let mut done = true;
        for (future, output) in futures.iter_mut().zip(&mut outputs) {
            if output.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(value) => *output = Some(value),
                    Poll::Pending => done = false,
                }
            }
        }
        if done { Poll::Ready(outputs.drain(..).flatten().collect()) } else { Poll::Pending }
    })
    .await
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn waiting_works_on_every_kind_of_thread() {
        let sleep = |worker: &Worker| {
            worker.wait(async {
                tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                7
            })
        };
        assert_eq!(sleep(&Worker::start().unwrap()), 7);
        let outer = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        // On a thread that drives a runtime, on one of its blocking threads, and dropping the worker there.
        assert_eq!(outer.block_on(async { sleep(&Worker::start().unwrap()) }), 7);
        let blocking = outer.spawn_blocking(move || sleep(&Worker::start().unwrap()));
        assert_eq!(outer.block_on(blocking).unwrap(), 7);
    }

    #[test]
    fn many_waits_in_one_task_of_another_runtime_end() {
        let outer = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let (tell, told) = std::sync::mpsc::channel();
        outer.spawn(async move {
            let worker = Worker::start().unwrap();
            let semaphore = tokio::sync::Semaphore::new(1);
            for _ in 0..300 {
                worker.wait(async { drop(semaphore.acquire().await.unwrap()) });
            }
            tell.send(()).unwrap();
        });
        told.recv_timeout(std::time::Duration::from_secs(20)).unwrap();
    }

    #[test]
    fn futures_start_in_order_and_finish_in_any() {
        let worker = Worker::start().unwrap();
        let started = std::cell::RefCell::new(Vec::new());
        let step = |number: u64| {
            let started = &started;
            Box::pin(async move {
                started.borrow_mut().push(number);
                tokio::time::sleep(std::time::Duration::from_millis(10 - 3 * number)).await;
                number
            }) as Pin<Box<dyn Future<Output = u64>>>
        };
        let done = worker.wait(in_order((0..3).map(step).collect()));
        assert_eq!(done, [0, 1, 2]);
        assert_eq!(*started.borrow(), [0, 1, 2]);
    }
}
