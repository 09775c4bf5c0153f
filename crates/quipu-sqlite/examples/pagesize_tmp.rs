//! x
use quipu_engine::ports::*; use quipu_core::id::UserId; use quipu_sqlite::*; use std::time::Instant;
fn main(){ let d=std::env::args().nth(1).unwrap();
 let p=std::path::Path::new(&d); let _=std::fs::remove_dir_all(p);
 let s=SqliteStore::open(p,Options::default()).unwrap(); let me=UserId::parse("me").unwrap(); let mut l=s.open(&me,true).unwrap();
 let blob=vec![7u8;30_000_000];
 for round in 0..6u64 { let t=Instant::now(); l.checkpoint(&Checkpoint{snapshot:Some((round+1,blob.clone())),snapshots_kept:2,projections:vec![("p",Projection{seq:1,tag:"t".into(),bytes:blob.clone()})],clear_vectors:false}).unwrap(); let w=t.elapsed(); let t=Instant::now(); let b=l.projection("p").unwrap().unwrap().bytes.len(); println!("write 60MB {w:?} read {b} {:?} file {}", t.elapsed(), l.bytes().unwrap()>>20);}
 let t=Instant::now();
 for i in 1..=1000u64 { let e=quipu_core::ledger::SealedEvent{seq:i,id:quipu_core::id::EventId::from_u128(i as u128),format:1,recorded_at_micros:i as i64,control:false,idempotency:None,header:vec![1;200],hash:quipu_core::event::NO_HASH,changes:vec![quipu_core::ledger::SealedChange{bytes:Some(vec![2;300]),salt:Some([3;32])}]}; l.append(i-1,&[e]).unwrap(); }
 println!("1000 appends {:?}", t.elapsed());
 let t=Instant::now(); let mut n=0; l.read(1..=1000,&mut |_|{n+=1;true}).unwrap(); println!("read {n} {:?}",t.elapsed());
}
