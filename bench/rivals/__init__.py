"""The same GGUF file through this engine and its rivals, measured in turns.  Used by bench/compare and by
the speed promises of tests/acceptance; both put tests/acceptance on the path."""
