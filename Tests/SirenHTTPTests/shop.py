"""Shops as Flask serves them: says its port. Under each first segment of a path is one, with a log of what it got."""
import collections, gzip, json, sys, threading, time, zlib

import flask
from flask import request
from werkzeug.serving import WSGIRequestHandler, make_server

SIREN = "application/vnd.siren+json"
ANY = ["GET", "POST", "PUT", "PATCH", "DELETE"]
app = flask.Flask(__name__)
app.logger.disabled = True
logs = collections.defaultdict(list)
counts = collections.Counter()


@app.url_value_preprocessor
def take_shop(endpoint, values):
    flask.g.shop = (values or {}).pop("shop", "")


@app.before_request
def write_log():
    raw = request.environ["RAW_URI"].split("/", 2)[2]
    if raw == "log":
        return
    body = request.get_data()
    files = [(field, file, file.read()) for field, file in request.files.items(multi=True)]
    logs[flask.g.shop].append({
        "line": f"{request.method} {raw}",
        "headers": {name.lower(): value for name, value in request.headers.items()},
        "size": len(body),
        "query": request.args.to_dict(flat=False),
        "form": request.form.to_dict(flat=False),
        "json": json.dumps(request.get_json(), sort_keys=True) if request.is_json else None,
        "text": body.decode(errors="replace") if request.mimetype == "text/csv" else None,
        "files": [
            {"field": field, "name": file.filename, "type": file.mimetype, "size": len(data), "sum": sum(data)}
            for field, file, data in files
        ],
    })


def at(path, *methods):
    return app.route("/<shop>/" + path, methods=methods or ["GET"])


def siren(entity, status=200, **headers):
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    return flask.Response(json.dumps(entity), status, headers, content_type=SIREN)


def link(rel, href, **more):
    return {"rel": [rel], "href": href, **more}


def customer(name):
    return {
        "class": ["customer"], "properties": {"customerId": name}, "links": [link("self", f"/{flask.g.shop}/customers/{name}")],
        "actions": [{
            "name": "greet", "method": "POST", "href": f"/{flask.g.shop}/customers/{name}/greetings",
            "fields": [{"name": "text", "value": "Hello"}],
        }],
    }


@at("log")
def log():
    return flask.jsonify(logs[flask.g.shop])


@at("")
def manifest():
    return siren({
        "class": ["shop"], "title": "Laden" if request.args.get("lang") == "de" else "Shop",
        "links": [
            link("self", ""), link("collection", "orders"), link("search", "customers{?name,limit}"),
            link("item", "items/{code}"), link("terms-of-service", "terms", type="text/plain"),
            link("related", request.args.get("elsewhere", "") + "notes"),
        ],
        "actions": [{
            "name": "find-orders", "href": "orders?sort=date#list",
            "fields": [
                {"name": "status", "type": "hidden", "value": "open"}, {"name": "q", "type": "search"},
                {"name": "page", "type": "number", "value": 1},
            ],
        }],
    }, Set_Cookie="visit=1; Path=/")


@at("orders")
def orders():
    page, last = request.args.get("page", 1, int), 3
    links = [link("self", f"?page={page}"), link("first", "?page=1"), link("last", f"?page={last}")]
    if page > 1:
        links.append(link("prev", f"?page={page - 1}"))
    if page < last:
        links.append(link("next", f"?page={page + 1}"))
    return siren({
        "class": ["orders", "collection"], "properties": {"page": page, "total": 5}, "links": links,
        "entities": [
            {"class": ["order"], "rel": ["item"], "properties": {"orderNumber": number},
             "links": [link("self", f"orders/{number}")]}
            for number in range(39 + 2 * page, min(41 + 2 * page, 46))
        ],
    })


def order_entity(status):
    several = [{"value": "paper", "selected": True}, {"value": "ribbon"}, {"value": "box", "selected": True}]
    return {
        "class": ["order"], "properties": {"orderNumber": 42, "status": status},
        "entities": [
            {"class": ["items", "collection"], "rel": ["item"], "href": "42/items"},
            {"rel": ["author"], **customer("pj123")},
        ],
        "links": [link("self", "42"), link("up", "../orders"), link("prev", "41"), link("next", "43")],
        "actions": [
            {"name": "add-item", "method": "POST", "href": "42/items", "type": "application/x-www-form-urlencoded", "fields": [
                {"name": "orderNumber", "type": "hidden", "value": "42"},
                {"name": "productCode", "required": True, "pattern": "[A-Z]-[0-9]+"},
                {"name": "quantity", "type": "number", "value": 1, "min": 1, "max": 10},
                {"name": "wrapping", "type": "checkbox", "value": several}, {"name": "gift", "type": "checkbox", "value": "yes"},
                {"name": "note"},
            ]},
            {"name": "replace", "method": "PUT", "href": "42", "type": "application/json", "fields": [
                {"name": "express", "type": "checkbox"}, {"name": "weight", "type": "number"},
                {"name": "wrapping", "type": "checkbox", "value": several}, {"name": "deliverOn", "type": "date"},
                {"name": "site", "type": "url"}, {"name": "note", "value": "none"},
            ]},
            {"name": "cancel", "method": "DELETE", "href": "42", "fields": [
                {"name": "version", "type": "hidden", "value": 7}, {"name": "reason"},
            ]},
            {"name": "attach", "method": "POST", "href": "42/files", "type": "multipart/form-data", "fields": [
                {"name": "kind", "type": "hidden", "value": "invoice"}, {"name": "caption"},
                {"name": "papers", "type": "file", "multiple": True},
            ]},
            {"name": "amend", "method": "PATCH", "href": "42", "type": "text/csv", "fields": [{"name": "a"}, {"name": "b"}]},
            {"name": "annotate", "method": "POST", "href": "42/notes", "type": "application/vnd.shop.note+json",
             "fields": [{"name": "note"}]},
            {"name": "confirm", "method": "POST", "href": "42/confirmation"},
            {"name": "export", "method": "POST", "href": "42/export", "type": "application/xml", "fields": [{"name": "a"}]},
        ],
    }


@at("orders/42", *ANY)
def order():
    return siren(order_entity("pending")) if request.method in ("GET", "PATCH") else flask.Response(status=204)


@at("orders/42/items", "GET", "POST")
def order_items():
    if request.method == "GET":
        return siren({"class": ["items", "collection"], "properties": {"count": 2}})
    return siren({"class": ["item"], "links": [link("self", "items/3")]}, 201, Location="items/3")


@at("orders/42/files", "POST")
def order_files():
    return flask.Response(status=201, headers={"Location": "files/1"})


@at("orders/42/notes", "POST")
def order_notes():
    return siren({"class": ["job"]}, 202, Location="/" + flask.g.shop + "/jobs/7")


@at("jobs/7")
def job():
    counts[flask.g.shop, "job"] += 1
    if counts[flask.g.shop, "job"] == 1:
        return siren({"class": ["job"], "links": [link("self", "")]}, 202)
    return flask.redirect("../notes/1", 303)


@at("orders/42/confirmation", "POST")
def order_confirmation():
    return siren({**order_entity("confirmed"), "links": [link("self", "../42")]})


@at("checkout", "POST")
def checkout():
    if request.form.get("address"):
        return flask.Response(status=201, headers={"Location": "orders/46"})
    return siren({
        "class": ["error"], "properties": {"message": "Where to?", "errors": {"address": "missing"}},
        "actions": [{"name": "retry", "method": "POST", "href": "", "fields": [
            {"name": "basket", "type": "hidden", "value": request.form["basket"]}, {"name": "address", "required": True},
        ]}],
    }, 422)


@at("payment", "POST")
def payment():
    problem = {"type": "https://shop.example/problems/credit", "title": "No credit", "status": 403, "balance": 30}
    return flask.Response(json.dumps(problem), 403, content_type="application/problem+json")


@at("failure")
def failure():
    return siren({"class": ["error", "stock"], "properties": {"message": "Sold out"}})


@at("terms")
def terms():
    return flask.Response("Terms: none", content_type="text/plain; charset=utf-8")


@at("maintenance")
def maintenance():
    # As what stands before a server answers in its place.
    return flask.Response("<html>Back soon</html>", content_type=request.args.get("type", "text/html"))


@at("packed")
def packed():
    encoding = request.args.get("as", "gzip")
    pack = {"gzip": gzip.compress, "deflate": zlib.compress}[encoding]
    body = pack(json.dumps({"title": "x" * 5000}).encode())
    return flask.Response(body, 200, {"Content-Encoding": encoding}, content_type=SIREN + "; charset=utf-8")


@at("streamed")
def streamed():
    return flask.Response(iter([b'{"title":', b'"in ', b'parts"}']), content_type=SIREN)


@at("cut", *ANY)
def cut():
    return flask.Response(iter([b'{"title":']), 200, {"Content-Length": "100"}, content_type=SIREN)


@at("slow", *ANY)
def slow():
    time.sleep(60)
    return siren({})


@at("go/<int:status>", *ANY)
def go(status):
    return flask.redirect(request.args["to"], status)


@at("circle")
def circle():
    return flask.redirect("circle")


@at("astray")
def astray():
    return flask.Response(status=302)


@at("busy", *ANY)
def busy():
    counts[flask.g.shop, "busy"] += 1
    if counts[flask.g.shop, "busy"] == 1:
        return flask.Response(status=503, headers={"Retry-After": request.args.get("after", "1")})
    return siren({"title": "Open again"})


@at("catalogue", "GET", "POST")
def catalogue():
    counts[flask.g.shop, "catalogue"] += request.method == "POST"
    answer = siren({
        "class": ["catalogue"], "properties": {"edition": counts[flask.g.shop, "catalogue"]},
        "links": [link("self", ""), link("next", "terms")],
    }, Cache_Control="max-age=60")
    answer.add_etag()
    return answer.make_conditional(request)


@at("dated")
def dated():
    answer = siren({"links": [link("self", "")]}, Last_Modified="Fri, 15 Jan 2027 07:00:00 GMT")
    return answer.make_conditional(request)


@at("account")
def account():
    return siren({"links": [link("self", ""), link("next", "terms")]}, Cache_Control="private, no-store")


@at("rooms/")
def rooms():
    # Flask leads here from where the slash is missing.
    return siren({"links": [link("item", "1")]})


@at("broken")
def broken():
    raise NotImplementedError


@at("claim")
def claim():
    # Says that it is an entity of another server.
    return siren({"links": [link("self", request.args["of"])], "actions": [{"name": "confirm", "method": "POST", "href": "trap"}]})


@at("<path:rest>", *ANY)
def anything(rest):
    return siren({"class": ["anything"], "title": rest})


class Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *arguments):
        pass


server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Handler)
print(server.server_port, flush=True)
# It ends with the process that started it.
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
