// Reaches for the network by every way that Node has: sockets, requests, datagrams, names, the metadata address.
"use strict";
const dgram = require("dgram");
const dns = require("dns");
const http = require("http");
const net = require("net");
const os = require("os");
const { aims, attempt, attempts, must } = require("attack-stage");

const settle = (start) => new Promise((resolve, refuse) => start(resolve, refuse));
const connect = (place) =>
  settle((resolve, refuse) => {
    const [host, port] = [place.slice(0, place.lastIndexOf(":")), place.slice(place.lastIndexOf(":") + 1)];
    const socket = net.connect({ host, port: Number(port) }, () => resolve("connected"));
    socket.on("error", refuse);
  });
const send = (host) =>
  settle((resolve, refuse) => {
    const socket = dgram.createSocket("udp4");
    socket.on("error", refuse);
    socket.send("x", 53, host, (error) => (socket.close(), error ? refuse(error) : resolve("sent")));
  });
const get = (url) =>
  settle((resolve, refuse) => http.get(url, (answer) => resolve(answer.statusCode)).on("error", refuse));
const resolver = new dns.promises.Resolver({ timeout: 500, tries: 1 });
resolver.setServers(["8.8.8.8", "127.0.0.53"]);

async function attack() {
  const host = `127.0.0.1:${aims.port}`;
  return {
    ...(await attempts(connect, [host, `${aims.address}:${aims.port}`, "169.254.169.254:80", "1.1.1.1:443", "::1:80"])),
    ...(await attempts(send, ["8.8.8.8", "169.254.169.254"])),
    ...(await attempts(get, [`http://${host}/`, "http://169.254.169.254/latest/meta-data/"])),
    fetch: await attempt(() => fetch(`http://${host}/`)),
    "a name": await attempt(() => dns.promises.lookup("secret.example")),
    "a name by hand": await attempt(() => resolver.resolve4("secret.example")),
    "a socket file": await attempt(() => settle((ok, no) => net.connect(aims.socket, ok).on("error", no))),
    "an abstract socket": await attempt(() => settle((ok, no) => net.connect(`\0${aims.abstract}`, ok).on("error", no))),
    "another interface": must(Object.keys(os.networkInterfaces()).join() !== "lo", "an interface"),
    "a service": await attempt(() => settle((ok, no) => net.connect("/var/run/docker.sock", ok).on("error", no))),
  };
}

module.exports = { at: "call", attack };
