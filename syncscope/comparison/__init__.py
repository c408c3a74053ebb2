"""Old against new over the cases: outputs, counts, growth, and the record of it all."""
