"""From the solver's answer back to a plan: devices, quota over time, reasons and totals."""
