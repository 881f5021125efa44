import { type App, createApp } from '../../src/app.ts'
import { closeRuntime, openRuntime } from '../../src/server/runtime.ts'
import { withoutCost } from './cost.ts'
import type { Json } from './json.ts'
import { compilation, readsPlainRows, testResponses } from './test-ways.ts'

/** Loaded on demand, because only tests that call REST need the validators. */
const REST_PATH = /^\/[^/]*\/api\/v1\//

/** One complete response. */
export type Answer<Body = Json> = { status: number; headers: Headers; body: Body }

/** The program as it runs, on a free port of this machine. */
export type TestApp = {
  app: App
  /** `http://127.0.0.1:port`, for clients that connect for real. */
  origin: string
  /** Sends a request unchanged. REST responses must match openapi.json. */
  fetch: (path: string, init?: RequestInit) => Promise<Response>
  /** A REST call of a tenant. */
  rest: (
    tenant: string,
    token: string | null,
    method: string,
    path: string,
    body?: unknown,
  ) => Promise<Answer>
  /** A GraphQL operation over HTTP. */
  gql: (
    tenant: string,
    token: string | null,
    query: string,
    variables?: object,
  ) => Promise<Answer<GraphqlBody>>
  close: () => Promise<void>
}

export type GraphqlBody = {
  data?: Json
  errors?: { message: string; path?: string[]; extensions: Record<string, Json> }[]
  extensions?: Json
}

/** Opens the runtime and the program; close it in afterAll. */
export async function startApp(): Promise<TestApp> {
  await openRuntime({ plainRows: readsPlainRows })
  const app = await createApp({ responses: testResponses, compilation })
  const { port } = await app.listen()
  const origin = `http://127.0.0.1:${port}`
  const call = async (path: string, init?: RequestInit) => {
    const response = await fetch(`${origin}${path}`, { redirect: 'manual', ...init })
    if (!REST_PATH.test(path)) return response
    const { checkResponse } = await import('./openapi.ts')
    return checkResponse(path, init, response)
  }
  const json = async (path: string, token: string | null, method: string, body?: unknown) => {
    const response = await call(path, {
      method,
      headers: {
        accept: 'application/json',
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null }
  }
  return {
    app,
    origin,
    fetch: call,
    rest: (tenant, token, method, path, body) => json(`/${tenant}/api/v1${path}`, token, method, body),
    gql: async (tenant, token, query, variables) => {
      const answer = await json(`/${tenant}/graphql`, token, 'POST', { query, variables })
      return { ...answer, body: withoutCost(answer.body) }
    },
    close: async () => {
      await app.close()
      await closeRuntime()
    },
  }
}
