"""Every spelling, in the order in which an overview names them."""

from __future__ import annotations

from syncscope.simcuda.explanations.answers import ANSWERS
from syncscope.simcuda.explanations.others import OTHERS
from syncscope.simcuda.explanations.reads import READS
from syncscope.simcuda.explanations.sizes import SIZES
from syncscope.simcuda.explanations.uploads import UPLOADS

SPELLINGS = (*READS, *SIZES, *UPLOADS, *ANSWERS, *OTHERS)
"""Every spelling."""
