import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'

type TxtRecords = Map<string, string[] | 'failing'>
const shared = globalThis as { vestibuleTxtRecords?: TxtRecords }
shared.vestibuleTxtRecords ??= new Map()
/** The values of the TXT records by their names; the server fails at a failing name. */
export const txtRecords: TxtRecords = shared.vestibuleTxtRecords

const HEADER_BYTES = 12
const TXT_TYPE = 16
const SERVER_FAILURE = 2
const NAME_ERROR = 3

const readName = (query: Buffer): { name: string; end: number } => {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('ascii', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

const toRecord = (value: string): Buffer => {
  const strings = (value.match(/.{1,255}/gs) ?? ['']).map((part) =>
    Buffer.concat([Buffer.of(part.length), Buffer.from(part)]),
  )
  const data = Buffer.concat(strings)
  const head = Buffer.alloc(HEADER_BYTES)
  head.writeUInt16BE(0xc000 + HEADER_BYTES, 0)
  head.writeUInt16BE(TXT_TYPE, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function answer(query: Buffer): Buffer {
  const { name, end } = readName(query)
  const found = txtRecords.get(name) ?? []
  const values = found === 'failing' ? [] : found
  const error = found === 'failing' ? SERVER_FAILURE : NAME_ERROR
  const head = Buffer.alloc(HEADER_BYTES)
  query.copy(head, 0, 0, 2)
  head.writeUInt16BE(0x8180 + (values.length === 0 ? error : 0), 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt16BE(values.length, 6)
  return Buffer.concat([head, query.subarray(HEADER_BYTES, end + 4), ...values.map(toRecord)])
}

/** Starts a DNS server (RFC 1035) on this machine that knows `txtRecords`, and returns its address with the port. */
export async function startDnsServer(): Promise<string> {
  const socket = createSocket('udp4', (query, { port, address }) => {
    socket.send(answer(query), port, address)
  })
  socket.bind(0, '127.0.0.1').unref()
  await once(socket, 'listening')
  return `127.0.0.1:${(socket.address() as AddressInfo).port}`
}

/** Publishes the record of a domain beside those that the name has. */
export function publishRecord({
  recordName,
  recordValue,
}: {
  recordName: string
  recordValue: string
}): void {
  const found = txtRecords.get(recordName)
  txtRecords.set(recordName, [...(Array.isArray(found) ? found : []), recordValue])
}
