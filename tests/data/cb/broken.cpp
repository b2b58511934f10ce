void f(Program& p) { CreateCircularBuffer(p, c, CircularBufferConfig(1024, {{0, f}}).set_page_size(0, 512));
  ((( nothing
