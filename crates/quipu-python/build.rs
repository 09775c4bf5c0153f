//! On macOS, an extension module is linked without the symbols of Python, which the interpreter provides.

fn main() {
    pyo3_build_config::add_extension_module_link_args();
}
