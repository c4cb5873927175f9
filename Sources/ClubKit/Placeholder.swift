import ReaderKit
