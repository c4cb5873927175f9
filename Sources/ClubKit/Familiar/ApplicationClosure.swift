/// A closure of the application's that need not be `Sendable`.
struct ApplicationClosure<Value>: @unchecked Sendable {
    // This is safe to send since the club calls it in one place only: on the queue of Club.setDispatchQueue, on which the
    // application says that its state may be touched, never two calls at a time.
    private let closure: (Value) -> Void

    init(_ closure: @escaping (Value) -> Void) {
        self.closure = closure
    }

    func callAsFunction(_ value: Value) {
        closure(value)
    }
}
