/// The original library of presenters and lists, item by item.
extension OriginalAPI {
    static let presentation = [
        OriginalItem(
            "`WKPresentableView`, `PresentableView`",
            "`PresentableView`: what a presenter drives, whatever draws it",
            "PresentationTests.lifeCycle"
        ),
        OriginalItem(
            "`WKPresenter`",
            "`Presenter`. `bind(to:)` attaches it to its `view`, which it declares weak",
            "PresentationTests.weakView"
        ),
        OriginalItem(
            "`WKGenericViewControllerPresenter`: `presenterInitialized()`, `viewDidLoad()`, `viewWillAppear()`, `viewDidAppear()`, `viewWillDisappear()`, `viewDidDisappear()`, `viewDidDestroy()`",
            "`ScreenPresenter` with the same calls, and `taskWhileShown()`. It does not require `init()`: a presenter is created with what it needs",
            "PresentationTests.lifeCycle",
            "PresentationTests.whileShown"
        ),
        OriginalItem("`VoidView`, `VoidPresenter`", "`VoidPresenter`, for any view", "PresentationTests.weakView"),
        OriginalItem(
            "`NetworkObservableView`, `WKNetworkObservableViewControllerPresenter`",
            "`NetworkObservingPresenter`: `networkDidBecomeAvailable()` and `networkDidBecomeUnavailable()` are called while its screen is shown, first with the present state",
            "PresentationTests.network"
        ),
        OriginalItem(
            "`WKBaseViewController`, `WKViewController<P>`, `WKTableViewController<P>`, `WKCollectionViewController<P>`, `initPresenter()`",
            "`Screen`: a presenter and its view, of whatever kind, as one thing that is shown and hidden",
            "PresentationTests.lifeCycle",
            "PresentationTests.destroyed"
        ),
        OriginalItem(
            "`WKInstantiableViewController`: `storyboardName`, `identifier`, `instantiate(bundle:)`, `instantiate(fromStoryboard:bundle:)`",
            declined: "there are no storyboards on Linux. A screen is created in code"
        ),
        OriginalItem(
            "`WKNavigationController`, `prefersChildStatusBarStyle`",
            declined: "a kiosk has no status bar, and `Navigator` needs no view of its own"
        ),
        OriginalItem(
            "`WKNavigator.shared`, `currentViewController`",
            "`Navigator`, one for each host, and `current`",
            "PresentationTests.navigation",
            "PresentationTests.hostIsGone"
        ),
        OriginalItem(
            "`show`, `present`, `push`, each with `configuration`",
            "The same, with a `Screen` in place of an instance, a type or a storyboard; `back()` and `dismiss()` lead back",
            "PresentationTests.navigation",
            "PresentationTests.waysBack"
        ),
        OriginalItem(
            "`presentNavigationController(with:fromStoryboard:…)`",
            "`present(_:configuration:)`: what is pushed on the screen is dismissed with it",
            "PresentationTests.waysBack"
        ),
        OriginalItem(
            "`WKTableViewCell<P>`, `WKCollectionViewCell<P>`: `reuseIdentifier`, `presenter`, `configure(with:)`",
            "`RowView`: `presenter`, `configure(with:)`, `detach()`. Rows are distinguished by their class",
            "RowTests.reuse",
            "RowTests.kinds"
        ),
        OriginalItem(
            "`UIAlertController.showCustomAlert`, `showOkAlert`",
            "`Navigator.answer(to:)`, `ask` and `tell`, which wait for the answer",
            "PresentationTests.alerts",
            "PresentationTests.fallbacks"
        ),
        OriginalItem("`UIWindow.topMostViewController`", "`Navigator.current`", "PresentationTests.waysBack"),
        OriginalItem(
            "Templates for Xcode",
            declined: "[a kiosk application](kiosk-app.md) shows the files to begin with"
        ),
    ]

    static let lists = [
        OriginalItem(
            "`register(cell:)`, `dequeueReusableCell(ofType:for:)`",
            "`RowRegistry`: `register(_:make:presenter:)`, `row(for:)`, `recycle(_:)`",
            "RowTests.reuse",
            "RowTests.kinds"
        ),
        OriginalItem(
            "`WKTableView`, `WKCollectionView`: `isPullToRefreshEnabled`, `addPullToRefresh(tintColor:refreshClosure:)`, `removePullToRefresh()`, `WKPullToRefreshClosure`",
            "`ListDataSource.refreshing`, `nil` where a list cannot be refreshed, `refresh()` and `isRefreshing`",
            "ListTests.refreshing"
        ),
        OriginalItem(
            "`WKTableViewDataSource<T>`, `WKCollectionViewDataSource<T>`: `items`, `init(tableView:)`",
            "`ListDataSource`, a section, and `SectionedDataSource`. They know no view: `observe(_:)` reports changes as ClubKit's live lists do",
            "ListTests.operations",
            "ListTests.sections"
        ),
        OriginalItem(
            "`add(_:animation:)`, `remove(at:)`, `remove(_:)`, `replace(_:at:)`, `replace(items:)`, `replaceAll`, `removeAllItems`, `clear()`",
            "`append(_:)`, `remove(at:)`, `remove(_:)`, `replace(_:at:)`, `replace(_:)`, `replaceAll(with:)`, `removeAll()`; besides `insert(_:at:)`, `move(from:to:)` and `update(to:)`, which finds what differs. An index outside of the list throws",
            "ListTests.operations",
            "ListTests.indices",
            "ListTests.differences",
            "ListTests.knownChanges"
        ),
        OriginalItem(
            "`WKTableViewInfiniteDataSourceDelegate<T>`: `currentPage`, `hasReachedLastPage`, `isLoading`, `tableView(_:readyForNextPageInSection:completion:)`, `clearPages()`",
            "`PagedDataSource`: `pageCount`, `state`, a closure that loads a page, `reset()`",
            "PagedListTests.scrolling",
            "PagedListTests.failure",
            "PagedListTests.reset"
        ),
        OriginalItem(
            "`spinnerColor`, `loaderSection`, `normalCellForRowAt`, `loadingCellForRowAt`, `numberOfNormalRowsInSection`",
            declined: "the row that shows loading is the view's, which sees it in `PagedDataSource.state`"
        ),
    ]

    static let utilities = [
        OriginalItem(
            "`WKService`: `requests`, `requestChains`, `enqueue(urlRequest:)`, `enqueueChain(urlRequests:)`, `cancelAllRequests()`; `RequestChain`, `ErrorResult`",
            declined:
                "it is a layer on Alamofire. Requests one after the other are async calls in a task, which stops at the first error and is cancelled as a whole"
        ),
        OriginalItem(
            "`WKNetworkReachabilityHelper.default`: `isNetworkAvailable`, `addObserver`, `removeObserver`; `WKNetworkObserver.networkStatusDidChange(to:)`",
            "`NetworkMonitor.isAvailable`, and `changes()` as an async sequence. Nothing is sent to anybody",
            "PresentationTests.networkChanges"
        ),
        OriginalItem(
            "`Log`, `Logger`: `info`, `warning`, `error`, `debug`",
            declined: "swift-log has levels and handlers; a club takes its logger (`ClubConfiguration.logger`)"
        ),
        OriginalItem(
            "`OrderedSet<T>`, `Queue<E>`",
            declined: "WinkKit itself removed them, and swift-collections has `OrderedSet` and `Deque`"
        ),
        OriginalItem(
            "`Collection[safe:]`",
            declined: "`indices.contains(_:)` asks the same, and a `ListDataSource` throws"
        ),
        OriginalItem(
            "`Date(value:dateFormat:)`",
            "`Date(value:dateFormat:timeZone:)`, in a fixed locale; without a format ISO 8601. It throws",
            "DatesTests.parsing"
        ),
        OriginalItem(
            "`wk_startOfMonth`, `wk_endOfMonth`, `wk_dayNumberOfWeek`, `wk_dayOfWeek`",
            "`startOfMonth(in:)`, `endOfMonth(in:)`, `dayNumberOfWeek(in:)`, `dayOfWeek(in:language:)`, by a calendar and its zone",
            "DatesTests.months",
            "DatesTests.weekdays"
        ),
        OriginalItem(
            "`UIColor`: `hex3`, `hex4`, `hex6`, `hex8`, `init(rgba_throws:)`, `init(_:defaultColor:)`, `hexStringThrows`, `hexString`; `UIColorInputError`",
            "`RGBColor(hex:)`, `hex` and `RGBColorError`, which names the place; 3, 4, 6 or 8 digits, and opaque",
            "RGBColorTests.hex"
        ),
        OriginalItem("`String.argb2rgba()`", declined: "colours have no transparency"),
        OriginalItem(
            "`CALayer.wk_addBorder(edges:color:thickness:)`; inspectable corners, borders, shadows and gradients of `WKView`, `WKButton`, `WKLabel`, `WKImageView`, `WKTextView`",
            "`Theme`: `border`, `radius`, `shadow` and `gradient`, once for all that a view draws. There is no Interface Builder to inspect them in",
            "ThemeTests.whole"
        ),
        OriginalItem(
            "`UIImage.wk_convertedToGrayScale()`",
            declined: "KioskKit has no images; a theme names the file of the logo"
        ),
    ]
}

extension OriginalDefects {
    static let presentation = [
        OriginalItem(
            "1. Requests that complete out of order remove the wrong one, or trap",
            declined: "with `WKService`; a task needs no place in an array"
        ),
        OriginalItem(
            "2. The requests of a chain all begin at once",
            declined: "with `WKService`; async calls follow each other"
        ),
        OriginalItem(
            "3. Cancelling leaves chains behind",
            declined: "with `WKService`; nothing is left of a task that ended"
        ),
        OriginalItem(
            "4. Observers of the network are never freed, and its state is that of one website",
            "Watching ends with its task, and the kernel reports interfaces and addresses",
            "PresentationTests.networkChanges",
            "PresentationTests.network"
        ),
        OriginalItem(
            "5. `VoidPresenter` loses its view at once",
            "Its view is that of the screen",
            "PresentationTests.weakView"
        ),
        OriginalItem(
            "6. `instantiate(bundle:)` ignores the bundle",
            declined: "with storyboards"
        ),
        OriginalItem(
            "7. Lists that load pages: no failure, stale pages after a reset, rows lost by a second completion, a crash once freed, nothing loaded below a short first page",
            "A page that failed is tried again, one of before a reset is dropped, a load returns once, a list that is gone is not held, and pages follow until the screen is full",
            "PagedListTests.failure",
            "PagedListTests.stale",
            "PagedListTests.reset",
            "PagedListTests.released",
            "PagedListTests.shortPages"
        ),
        OriginalItem(
            "8. Some indices are checked and some not; two names for one operation; one section; no differences or moves; any thread",
            "All are checked, each operation has one name, there are sections, differences and moves, and the compiler keeps lists on the main actor",
            "ListTests.indices",
            "ListTests.operations",
            "ListTests.sections",
            "ListTests.differences"
        ),
        OriginalItem(
            "9. Errors and warnings vanish from the log of a release",
            declined: "with `Log`; the levels of swift-log are the same in every build"
        ),
        OriginalItem(
            "10. A date that cannot be parsed is now",
            "It throws, and names the format",
            "DatesTests.parsing"
        ),
        OriginalItem(
            "11. A view and a presenter that do not fit end the program",
            "They do not compile, nor do a row and its presenter",
            "PresenterCompileTests.mismatch",
            "PresenterCompileTests.rowMismatch"
        ),
        OriginalItem(
            "12. Pushing from the topmost screen may do nothing; pull to refresh stays enabled after its removal",
            "Pushing always shows the screen; without `refreshing` there is nothing to refresh",
            "PresentationTests.waysBack",
            "ListTests.refreshing"
        ),
        OriginalItem(
            "13. No tests",
            "These, which need no screen",
            "PresentationTests.lifeCycle",
            "ListTests.operations",
            "PagedListTests.scrolling",
            "RowTests.reuse"
        ),
    ]
}
