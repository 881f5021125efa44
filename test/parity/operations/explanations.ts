import type { Call, Gql, Rest } from '../call.ts'
import { type Fixture, UNKNOWN } from '../fixture.ts'

const ARGUMENTS = ['userId', 'clientId', 'request', 'requestId'] as const
type Input = Partial<Record<(typeof ARGUMENTS)[number], string>>

const QUERY = `query(${ARGUMENTS.map((name) => `$${name}: ${name === 'request' || name === 'requestId' ? 'String' : 'ID'}`).join(', ')}) {
  result: explainSignIn(${ARGUMENTS.map((name) => `${name}: $${name}`).join(', ')}) {
    __typename succeeds userId clientId request scopes audience idTokenClaims userinfoClaims
    steps { __typename check outcome rule values error description remedy { __typename action targetId parameter value } } } }`

/** Of a request whose claims have no times. */
const REQUEST = 'response_type=code&scope=openid%20email&code_challenge=short'

const CASES: [string, (fixture: Fixture) => Input][] = [
  ['a user and a client', ({ userId, clientId }) => ({ userId, clientId, request: REQUEST })],
  ['a user', ({ userId }) => ({ userId })],
  ['a user who does not exist', () => ({ userId: `user_${UNKNOWN}` })],
  ['the id of another object', ({ clientId }) => ({ userId: clientId })],
  ['nothing', () => ({})],
  ['an unknown request', () => ({ requestId: 'none' })],
  ['a long request', ({ clientId }) => ({ clientId, request: 'x'.repeat(8001) })],
]

const PREVIEW_QUERY = `query($userId: ID!, $clientId: ID!, $scope: String, $resource: String) {
  result: previewToken(userId: $userId, clientId: $clientId, scope: $scope, resource: $resource) {
    __typename scopes accessToken idToken userinfo omitted { __typename target claims } } }`

const PREVIEWS: [string, (fixture: Fixture) => Record<string, string>][] = [
  ['a user and a client', ({ userId, clientId }) => ({ userId, clientId, scope: 'openid email' })],
  ['a user who does not exist', ({ clientId }) => ({ userId: `user_${UNKNOWN}`, clientId })],
  ['a client that does not exist', ({ userId }) => ({ userId, clientId: `client_${UNKNOWN}` })],
  ['an unknown API', ({ userId, clientId }) => ({ userId, clientId, resource: 'urn:unknown' })],
]

/** Events have other forms on both surfaces, as in a lookup. */
export const EXPLANATION_OPERATIONS: Record<string, Call[]> = {
  previewToken: PREVIEWS.map(([title, toInput]) => ({
    title,
    rest: (fixture): Rest => ['GET', `/token-preview?${new URLSearchParams(toInput(fixture))}`],
    gql: (fixture): Gql => ({
      query: PREVIEW_QUERY,
      variables: toInput(fixture),
      read: ({ result }) => result,
    }),
  })),
  explainSignIn: CASES.map(([title, toInput]) => ({
    title,
    rest: (fixture): Rest => ['GET', `/sign-in-explanation?${new URLSearchParams(toInput(fixture))}`],
    gql: (fixture): Gql => ({
      query: QUERY,
      variables: toInput(fixture),
      read: ({ result }) => ({ ...result, event: null }),
    }),
  })),
}
