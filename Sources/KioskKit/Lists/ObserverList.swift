/// Closures that are called one after the other, in the order in which they were added.
@MainActor
final class ObserverList<Event> {
    private var observers: [(number: Int, body: @MainActor (Event) -> Void)] = []
    private var count = 0

    /// - Returns: a closure that removes it.
    func add(_ body: @escaping @MainActor (Event) -> Void) -> @MainActor () -> Void {
        count += 1
        let number = count
        observers.append((number, body))
        return { [weak self] in self?.observers.removeAll { $0.number == number } }
    }

    func notify(_ event: Event) {
        for observer in observers { observer.body(event) }
    }
}
