"""Operations of the denoising step that are worth a kernel.

`kernels.reference` defines in torch what each computes, `kernels.<op>` computes it in Triton, and
callers use `kernels.ops`, which checks the arguments and picks one of the two. Nothing here knows
of models.

Shapes: N rows (positions), V columns (ids of the vocabulary).
"""
