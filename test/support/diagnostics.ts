import { expect, vi } from 'vitest'
import { test as base } from './visitor.ts'

// Events become visible once older transactions of the cluster have ended.
const WAIT = { timeout: 10_000, interval: 50 }
const EVENTS_QUERY =
  'query($id: String!) { events(filter: { requestId: $id }) { nodes { type: typeName ... on AuditEvent { detail } } } }'

export type Rejection = {
  type: string
  actor: { clientId: string | null }
  subjectIds: string[]
  detail: Record<string, unknown>
}

export const getRequestId = ({ headers }: { headers: Headers }): string => headers.get('x-request-id') ?? ''

/** `test` with the events of rejected requests. */
export const test = base
  /** The event of a rejected request, as REST and GraphQL return it. */
  .extend(
    'listRejections',
    { scope: 'file' },
    ({ rest, gql }) =>
      (answer: { headers: Headers }): Promise<Rejection[]> => {
        const id = getRequestId(answer)
        const scopes = ['events:read'] as const
        return vi.waitFor(async () => {
          const { body } = await rest('GET', `/events?requestId=${id}`, undefined, { scopes })
          const events = (body.events as Rejection[]).filter(({ type }) => type.endsWith('.refused'))
          expect(events).toHaveLength(1)
          const graphql = await gql(EVENTS_QUERY, { id }, { scopes })
          const { nodes } = graphql.body.data.events
          expect(nodes).toContainEqual({ type: events[0]?.type, detail: events[0]?.detail })
          return events
        }, WAIT)
      },
  )
  /**
   * Expects that a code is rejected without a reason in the response; returns the diagnostics of the event.
   */
  .extend(
    'expectRejection',
    { scope: 'file' },
    ({ oidc, client, listRejections }) =>
      async (
        code: string,
        more: Record<string, string> = {},
        by: { id: string; secret: string } = client,
      ) => {
        const answer = await oidc.exchange(code, more, by)
        expect(answer).toMatchObject({
          status: 400,
          body: {
            error: 'invalid_grant',
            error_description: 'The code is invalid, expired, or was used before.',
          },
        })
        const [rejection] = await listRejections(answer)
        expect(JSON.stringify(rejection)).not.toContain(code)
        expect(rejection).toMatchObject({
          type: 'token.refused',
          actor: { clientId: by.id },
          subjectIds: [by.id],
        })
        return rejection?.detail
      },
  )
