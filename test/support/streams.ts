import { type Client, createClient } from 'graphql-ws'
import { WebSocket } from 'ws'
import type { GraphqlBody } from './app.ts'

/** One server-sent event, as a browser dispatches it. */
export type ServerSentEvent = { event: string; id: string | null; data: GraphqlBody | null }

/** Reads an event stream; `lastEventId` is kept as browsers keep it. */
export type EventReader = {
  status: number
  headers: Headers
  lastEventId: () => string | null
  next: () => Promise<ServerSentEvent | null>
  close: () => void
}

/** Opens an event stream of an operation with `fetch`. Comments and id-only blocks give no event. */
export async function openEventStream(
  url: string,
  token: string,
  query: string,
  variables: object = {},
  headers: Record<string, string> = {},
  params: object = {},
): Promise<EventReader> {
  const controller = new AbortController()
  const response = await fetch(url, {
    method: 'POST',
    signal: controller.signal,
    headers: {
      accept: 'text/event-stream',
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      ...headers,
    },
    body: JSON.stringify({ query, variables, ...params }),
  })
  let lastEventId: string | null = null
  const parse = (block: string): ServerSentEvent | null => {
    const fields = block.split('\n').map((line) => /^([a-z]*):? ?(.*)$/.exec(line) ?? [])
    const fieldOf = (name: string) => fields.find(([, field]) => field === name)?.[2]
    lastEventId = fieldOf('id') ?? lastEventId
    const event = fieldOf('event')
    const data = fieldOf('data')
    return event ? { event, id: fieldOf('id') ?? null, data: data ? JSON.parse(data) : null } : null
  }
  async function* read(): AsyncGenerator<ServerSentEvent> {
    const decoder = new TextDecoder()
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const event of blocks.map(parse)) if (event) yield event
    }
  }
  const events = read()
  return {
    status: response.status,
    headers: response.headers,
    lastEventId: () => lastEventId,
    next: async () => (await events.next()).value ?? null,
    close: () => controller.abort(),
  }
}

/** A graphql-ws client that does not reconnect. */
export const openSocket = (url: string, token: string | null, headers: Record<string, string> = {}): Client =>
  createClient({
    url,
    webSocketImpl: class extends WebSocket {
      constructor(address: string, protocols: string[]) {
        super(address, protocols, { headers })
      }
    },
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => undefined,
    connectionParams: token === null ? {} : { authorization: `Bearer ${token}` },
  })
