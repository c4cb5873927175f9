/// A view of one row of a list, driven by a presenter of its own.
@MainActor
public protocol RowView: PresentableView {
    /// The presenter of such rows.
    associatedtype RowPresenter: Presenter

    /// The presenter of the row now; `nil` while it waits to be used again.
    var presenter: RowPresenter? { get set }

    /// The row as its presenter knows it; usually `self`.
    var presented: RowPresenter.View { get }
}

extension RowView {
    /// Shows what another presenter has: detaches the former presenter and attaches this one. A presenter of another
    /// kind does not compile.
    public func configure(with presenter: RowPresenter) {
        detach()
        self.presenter = presenter
        presenter.bind(to: presented)
    }

    /// Detaches the presenter, so that it changes nothing in a row that shows something else by now.
    public func detach() {
        presenter?.view = nil
        presenter = nil
    }
}

/// The kinds of rows of a list, and rows that wait to be used again.
///
/// ```swift
/// let rows = RowRegistry<Entry>()
/// rows.register(MemberRow.self, make: MemberRow.init) { entry in
///     if case .member(let member) = entry { MemberRowPresenter(member) } else { nil }
/// }
/// let row = rows.row(for: entry)
/// ```
@MainActor
public final class RowRegistry<Item> {
    private struct Kind {
        let row: (Item, (any RowView)?) -> (any RowView)?
        var waiting: [any RowView] = []
    }

    private var kinds: [(id: ObjectIdentifier, kind: Kind)] = []

    /// Creates a registry without kinds.
    public init() {}

    /// Adds a kind of row.
    ///
    /// - Parameters:
    ///   - row: the class of its rows.
    ///   - make: creates a row.
    ///   - presenter: creates the presenter of an item; `nil` if the item is shown in another kind of row.
    public func register<Row: RowView>(
        _ row: Row.Type,
        make: @escaping @MainActor () -> Row,
        presenter: @escaping @MainActor (Item) -> Row.RowPresenter?
    ) {
        let kind = Kind { item, waiting in
            guard let presenter = presenter(item) else { return nil }
            let row = waiting as? Row ?? make()
            row.configure(with: presenter)
            return row
        }
        kinds.append((ObjectIdentifier(row), kind))
    }

    /// Returns a row for an item, of the first kind that shows it: one that waits, or a new one.
    ///
    /// - Returns: `nil` if no kind shows the item.
    public func row(for item: Item) -> (any RowView)? {
        for index in kinds.indices {
            guard let row = kinds[index].kind.row(item, kinds[index].kind.waiting.last) else { continue }
            _ = kinds[index].kind.waiting.popLast()
            return row
        }
        return nil
    }

    /// Takes back a row that is not shown any more: detaches its presenter, and keeps it to be used again.
    public func recycle(_ row: any RowView) {
        row.detach()
        guard let index = kinds.firstIndex(where: { $0.id == ObjectIdentifier(type(of: row)) }) else { return }
        kinds[index].kind.waiting.append(row)
    }
}
