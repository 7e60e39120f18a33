"""Time a model over a ladder of shapes, in fresh processes, and say what the figures are worth.

Loading (`target`), execution (`timing`) and collection (`collect`) are apart: a process that times knows nothing of the
others, and hands over plain JSON. `judge` looks at the samples.
"""
