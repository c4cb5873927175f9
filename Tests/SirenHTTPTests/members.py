"""Members of a club as flask-ripozo serves them, which makes Siren of its own accord: says its port."""
import logging, sys, threading

import flask
from flask_ripozo import FlaskDispatcher
from ripozo import restmixins
from ripozo.adapters.siren import SirenAdapter
from ripozo.decorators import classproperty
from ripozo.exceptions import NotFoundException
from ripozo.manager_base import BaseManager
from ripozo.resources.fields.common import IntegerField, StringField
from werkzeug.serving import WSGIRequestHandler, make_server


class Members(BaseManager):
    paginate_by = 2
    kept = {number: {"id": number, "name": name} for number, name in enumerate(["Ada", "Bo", "Čapek", "Dé", "Émile"], 1)}

    @classproperty
    def fields(cls):
        return ["id", "name"]

    @classproperty
    def create_fields(cls):
        return ["name"]

    @classproperty
    def update_fields(cls):
        return ["name"]

    @classmethod
    def get_field_type(cls, name):
        return IntegerField("id") if name == "id" else StringField("name", required=True, maximum=20)

    def create(self, values):
        key = max(self.kept) + 1
        self.kept[key] = {"id": key, **values}
        return self.kept[key]

    def retrieve(self, keys):
        key = int(keys["id"])
        if key not in self.kept:
            raise NotFoundException(f"There is no member {key}")
        return self.kept[key]

    def retrieve_list(self, filters):
        count, filters = self.get_pagination_count(filters)
        page, filters = self.get_pagination_pks(filters)
        page = int(page or 1)
        links = {}
        if page * count < len(self.kept):
            links["next"] = {self.pagination_pk_query_arg: page + 1, self.pagination_count_query_arg: count}
        if page > 1:
            links["previous"] = {self.pagination_pk_query_arg: page - 1, self.pagination_count_query_arg: count}
        return list(self.kept.values())[(page - 1) * count:page * count], {"links": links}

    def update(self, keys, updates):
        self.retrieve(keys).update(updates)
        return self.retrieve(keys)

    def delete(self, keys):
        del self.kept[self.retrieve(keys)["id"]]
        return {}


class Member(restmixins.CRUDL):
    manager = Members()
    pks = ("id",)
    resource_name = "members"


class Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *arguments):
        pass


logging.disable()
app = flask.Flask(__name__)
dispatcher = FlaskDispatcher(app, url_prefix="/api")
dispatcher.register_adapters(SirenAdapter)
dispatcher.register_resources(Member)
server = make_server("127.0.0.1", 0, app, threaded=True, request_handler=Handler)
print(server.server_port, flush=True)
# It ends with the process that started it.
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
