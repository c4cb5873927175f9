import KioskKit
import Testing
