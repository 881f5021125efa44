// One kind of flood, in a process of its own, until it is ended. Prints a line of JSON with the number of
// responses by status at the end. Called by neighbors.ts with the flood as JSON.
import os from 'node:os'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { createClient } from 'graphql-ws'
import WebSocket from 'ws'

export type Flood = {
  origin: string
  tenant: string
  token: string
  kind: 'lists' | 'counts' | 'imports' | 'exports' | 'subscriptions'
  connections: number
}

// What a client of another machine does would not take a core from the server and the probe.
os.setPriority(os.constants.priority.PRIORITY_LOW)

const flood = JSON.parse(process.argv[2] ?? '{}') as Flood
const { origin, tenant, token, kind, connections } = flood
const statuses: Record<string, number> = {}
const count = (status: string | number) => {
  statuses[status] = (statuses[status] ?? 0) + 1
}
const isStopping = false

const NODES =
  'nodes { id name givenName familyName email emailVerified phoneNumber locked lastSeenAt createdAt }'
const QUERIES: Record<'lists' | 'counts', string[]> = {
  lists: [
    `{ users(first: 1000) { ${NODES} } }`,
    `{ users(first: 1000, filter: {search: "ann"}) { ${NODES} } }`,
    `{ users(page: 1000, pageSize: 50, orderBy: {field: NAME}) { ${NODES} } }`,
    `{ users(first: 300) { nodes { id sessions(first: 5) { nodes { id } } idpUsers(first: 5) { nodes { id } } } } }`,
  ],
  counts: [
    '{ users(first: 1, filter: {search: "ann"}) { totalSize } }',
    '{ users(first: 1, filter: {emailVerified: true, locked: false}) { totalSize } }',
    '{ users(first: 1, filter: {search: "person"}) { totalSize } }',
    '{ users(first: 1, filter: {appMetadata: {plan: "pro"}}) { totalSize } }',
  ],
}

async function send(path: string, init: RequestInit & { duplex?: 'half' }): Promise<void> {
  try {
    const response = await fetch(`${origin}/${tenant}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${token}`, ...init.headers },
    })
    const text = await response.text()
    count(text.includes('"errors"') ? 'errors' : response.status)
  } catch {
    count('failed')
    await sleep(50)
  }
}

const postGraphql = (query: string) =>
  send('/graphql', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
  })

let line = 0
async function* importLines() {
  for (let index = 0; index < 5000 && !isStopping; index += 1) {
    line += 1
    const id = `${process.pid}-${line}`
    yield Buffer.from(
      `${JSON.stringify({ externalId: id, name: `Person ${id}`, email: `i${id}@example.com` })}\n`,
    )
  }
}

async function* iterate(work: (round: number) => Promise<void>) {
  for (let round = 0; !isStopping; round += 1) yield await work(round)
}

/** Opens sockets with subscriptions, and changes users, so that every subscriber gets events. */
async function subscribe(worker: number): Promise<void> {
  const client = createClient({
    url: `${origin.replace('http', 'ws')}/${tenant}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization: `Bearer ${token}` },
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => count('closed'),
  })
  for (let index = 0; index < 20; index += 1)
    client.subscribe(
      { query: 'subscription { events { id type } }' },
      { next: () => count('events'), error: () => count('rejected'), complete: () => {} },
    )
  for await (const _ of iterate(async (round) => {
    const input = `input: {fields: {email: "s${process.pid}-${worker}-${round}@example.com"}}`
    await postGraphql(`mutation { createUser(${input}) { __typename } }`)
  })) {
  }
}

const WORK: Record<Flood['kind'], (worker: number) => Promise<void>> = {
  lists: async () => {
    for await (const _ of iterate((round) => postGraphql(QUERIES.lists[round % 4] ?? ''))) {
    }
  },
  counts: async () => {
    for await (const _ of iterate((round) => postGraphql(QUERIES.counts[round % 4] ?? ''))) {
    }
  },
  imports: async () => {
    for await (const _ of iterate(() =>
      send('/api/v1/users/import', {
        method: 'POST',
        headers: { 'content-type': 'application/x-ndjson' },
        body: Readable.from(importLines()) as unknown as BodyInit,
        duplex: 'half',
      }),
    )) {
    }
  },
  exports: async () => {
    for await (const _ of iterate(() => send('/api/v1/users/export', {}))) {
    }
  },
  subscriptions: subscribe,
}

process.on('SIGTERM', () => {
  process.stdout.write(`${JSON.stringify(statuses)}\n`, () => process.exit(0))
})
for (let worker = 0; worker < connections; worker += 1) void WORK[kind](worker)
