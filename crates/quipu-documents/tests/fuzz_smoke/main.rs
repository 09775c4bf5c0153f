//! Runs the bodies of the fuzz targets of the document readers on random bytes and on mutations of valid documents.

#[expect(unreachable_pub, reason = "it is also a public module of the fuzz targets")]
mod bodies;

use quipu_testkit::fuzzing::{feed, seeds};

#[test]
fn documents() {
    feed("document", &seeds("fuzz/seeds/document"), 500, bodies::document);
}

#[test]
fn pdfs() {
    let mut known = seeds("fuzz/seeds/pdf");
    known.extend(seeds("testdata/documents"));
    feed("pdf", &known, 300, bodies::pdf);
}
