"""`python -m quipu_memory` is `quipu`."""

from quipu_memory import main

main()
