#loc1 = loc(fused[#loc2, #loc1])
#loc2 = loc(callsite(#loc1 at #loc2))
func.func public @main(%a: tensor<f32>) {
 x loc(#loc1)
 y loc("f.mlir":3:4)
}
