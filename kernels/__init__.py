"""Operations of the denoising step that are worth a kernel.

`kernels.reference` says in torch what each computes, `kernels.<op>` computes it in Triton, and
`kernels.ops` is what callers use: it checks the arguments and picks one. Nothing here knows of
models.

Shapes: N rows (positions), V columns (ids of the vocabulary).
"""
