import ReaderKit
import ToolSupport

extension TagAccess {
    /// What is done to a tag that must not be left half done.
    enum Work {
        case write, format, lock

        /// What the tag may be now, and what a person can do.
        var advice: String {
            switch self {
            case .write:
                "The tag may hold the old message, or be empty now. Present it and write it again; "
                    + "'readerctl ndef repair' makes it a clean empty one."
            case .format: "The tag may be half formatted now. Present it and format it again."
            case .lock: "The tag may be half locked now. Present it and lock it again, to bring that to its end."
            }
        }
    }

    /// Does the work, and says in what state the tag may be if it failed after the tag was touched.
    static func telling(_ output: Output, _ work: Work, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as TagError {
            switch error {
            case .link, .refused, .protected, .notWritten: output.message(work.advice)
            default: break
            }
            throw error
        }
    }
}
