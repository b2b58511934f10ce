module {
  sdy.mesh @mesh8 = <["x"=2, "_axis_1"=4]> loc(#loc)
  func.func @f(%arg0: !ttnn.device, %arg1: memref<4xf32> {tt.argument_type = #tt.argument_type<input>} loc("a")