import KioskTerminal
import Testing
