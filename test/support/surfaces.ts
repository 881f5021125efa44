import { createGraphql } from '../../src/graphql/server.ts'
import { createRestApp } from '../../src/rest/rest.ts'
import { closeRuntime, openRuntime } from '../../src/runtime.ts'
import type { Answer, TestApp } from './app.ts'
import { withoutCost } from './cost.ts'
import { checkAnswer, checkResponse } from './openapi.ts'

/** REST and GraphQL of the program without a network, for the many calls of a domain's tests. */
export type Surfaces = Pick<TestApp, 'gql' | 'close'> & {
  // biome-ignore lint/suspicious/noExplicitAny: what a test asks for decides the shape
  rest: (...args: Parameters<TestApp['rest']>) => Promise<Answer<any>>
  /** A request to the REST surface as it is. Its answers, as those of `rest`, must be as openapi.json says. */
  request: (path: string, init?: RequestInit) => Promise<Response>
}

const ORIGIN = 'http://localhost:3000'

/** Opens the runtime and the management surfaces; close them in afterAll. */
export async function openSurfaces(): Promise<Surfaces> {
  await openRuntime()
  const app = createRestApp()
  const graphql = createGraphql()
  const requestFor = (path: string, token: string | null, method: string, body?: unknown) =>
    new Request(`${ORIGIN}${path}`, {
      method,
      headers: {
        accept: 'application/json',
        ...(token !== null && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  const answerOf = async (response: Response) => {
    const text = await response.text()
    return { status: response.status, headers: response.headers, body: text ? JSON.parse(text) : null }
  }
  return {
    request: async (path, init) => {
      const response = await app.request(`${ORIGIN}${path}`, init)
      return checkResponse(path, init, response)
    },
    rest: async (tenant, token, method, path, body) => {
      const target = `/${tenant}/api/v1${path}`
      const answer = await answerOf(await app.fetch(requestFor(target, token, method, body)))
      await checkAnswer({ method, path: target, sent: body, ...answer })
      return answer
    },
    gql: async (tenant, token, query, variables) => {
      const request = requestFor(`/${tenant}/graphql`, token, 'POST', { query, variables })
      const answer = await answerOf(await graphql.fetch(request, tenant))
      return { ...answer, body: withoutCost(answer.body) }
    },
    close: async () => {
      await graphql.close()
      await closeRuntime()
    },
  }
}
