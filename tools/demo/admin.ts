import { createClient as createSseClient } from 'graphql-sse'
import { createClient as createWsClient } from 'graphql-ws'
import WebSocket from 'ws'

type Credentials = { clientId: string; clientSecret: string | null }
type SessionEvent = { kind: string; reason: string | null; userId: string }

const SESSIONS = 'subscription { sessionChanged { ... on SessionEvent { kind reason userId } } }'
const LOCKS = 'subscription { userLockChanged { ... on UserLockEvent { kind userId } } }'

/** The backend of an admin frontend: GraphQL over HTTP, and subscriptions over both transports. */
export class Admin {
  readonly #url: string
  readonly #token: string

  private constructor(url: string, token: string) {
    this.#url = url
    this.#token = token
  }

  /** Gets a token by client_credentials. */
  static async connect(issuer: string, client: Credentials): Promise<Admin> {
    const response = await fetch(`${issuer}/oidc/token`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${client.clientId}:${client.clientSecret}`)}` },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        scope: 'users:read users:write sessions:read sessions:write idps:write tenant:read tenant:write',
      }),
    })
    const body = (await response.json()) as { access_token: string }
    if (!response.ok) throw new Error(`no token: ${JSON.stringify(body)}`)
    return new Admin(`${issuer}/graphql`, body.access_token)
  }

  async query<Data>(query: string, variables: object = {}): Promise<Data> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${this.#token}` },
      body: JSON.stringify({ query, variables }),
    })
    const body = (await response.json()) as { data?: Data; errors?: unknown }
    if (!body.data || body.errors) throw new Error(JSON.stringify(body.errors ?? body))
    return body.data
  }

  /** Runs a mutation, whose result selects the message of an error. */
  async change(mutation: string, variables: object): Promise<void> {
    const results = Object.values(await this.query<Record<string, { message?: string }>>(mutation, variables))
    for (const { message } of results) if (message) throw new Error(message)
  }

  /** Watches sessions over WebSocket. */
  watchSessions(seen: (event: SessionEvent) => void): () => void {
    const client = createWsClient({
      url: this.#url.replace('http', 'ws'),
      webSocketImpl: WebSocket,
      connectionParams: { authorization: `Bearer ${this.#token}` },
    })
    client.subscribe<{ sessionChanged: SessionEvent }>(
      { query: SESSIONS },
      { next: ({ data }) => data && seen(data.sessionChanged), error: fail, complete: () => {} },
    )
    return () => void client.dispose()
  }

  /** Watches sessions and locks over server-sent events. */
  watchBySse(seenSession: (event: SessionEvent) => void, seenLock: (kind: string) => void): () => void {
    const client = createSseClient({
      url: this.#url,
      headers: { authorization: `Bearer ${this.#token}` },
      retryAttempts: 0,
    })
    client.subscribe<{ sessionChanged: SessionEvent }>(
      { query: SESSIONS },
      { next: ({ data }) => data && seenSession(data.sessionChanged), error: fail, complete: () => {} },
    )
    client.subscribe<{ userLockChanged: { kind: string } }>(
      { query: LOCKS },
      { next: ({ data }) => data && seenLock(data.userLockChanged.kind), error: fail, complete: () => {} },
    )
    return () => client.dispose()
  }
}

function fail(error: unknown): void {
  throw new Error('a subscription failed', { cause: error })
}
