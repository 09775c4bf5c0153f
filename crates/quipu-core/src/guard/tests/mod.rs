mod echo;
mod instructions;
mod secrets;
mod sensitive;
