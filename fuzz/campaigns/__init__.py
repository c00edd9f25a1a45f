"""Long runs of the fuzz targets, and what they found. The program is fuzz/campaign."""
