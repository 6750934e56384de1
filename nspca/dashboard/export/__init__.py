"""Export of a result as one ZIP file: report, figures, tables, certificates and Python."""
