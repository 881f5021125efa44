import { expect } from 'vitest'
import { dbFor } from '../../src/database/db.ts'
import { test as base } from './fixtures.ts'
import { type PersonClient, type SignedIn, signInAs } from './people.ts'
import { makeUser } from './protocol.ts'

/** The input of every mutation that needs scope `account`, by name. */
export const MUTATIONS: Record<string, string> = {
  updateViewer: '{fields: {nickname: "Eve"}}',
  requestEmailChange: '{email: "eve@example.com"}',
  confirmEmailChange: '{email: "eve@example.com", code: "000000"}',
  requestPhoneNumberChange: '{phoneNumber: "+41791112233"}',
  confirmPhoneNumberChange: '{phoneNumber: "+41791112233", code: "000000"}',
  removeViewerPhoneNumber: '{phoneNumber: "+41791112233"}',
  revokeViewerSession: '{sessionId: "session_01m7xeb1sbendby702xerkqv3p"}',
  revokeViewerSessions: '{includeCurrent: true}',
  revokeViewerCredential: '{credentialId: "cred_01m7xeb1sbendby702xerkqv3p"}',
  unlinkViewerIdpUser: '{idpId: "partner"}',
  linkViewerIdpUser: '{idpId: "partner", idToken: "x"}',
  createViewerEnrollmentToken: '{}',
  createViewerTotp: '{}',
  confirmViewerTotp: '{token: "x", code: "000000"}',
  createViewerRecoveryCodes: '{}',
  setViewerDeletion: '{requested: false}',
  revokeViewerConsent: '{clientId: "client_01m7xeb1sbendby702xerkqv3p"}',
}
const toMutation = (name: string) => `mutation { ${name}(input: ${MUTATIONS[name]}) { __typename } }`

export const READ_VIEWER =
  '{ viewer { user { id email sessions { nodes { id } } consents { nodes { clientId } } } session { id } scopes } }'
export const CHANGE_VIEWER =
  'mutation { updateViewer(input: {fields: {nickname: "Ada"}}) { ... on ViewerPayload { user { nickname } } } }'

/** With users of the file's tenant or of another one. */
export const test = base
  .extend('makeSignedIn', { scope: 'file' }, ({ app, tenant, spa }) => {
    let count = 0
    type Options = { at?: string; client?: PersonClient; parameters?: Record<string, string> }
    return async (scope: string, { at = tenant, client = spa, parameters = {} }: Options = {}) => {
      const email = `user${++count}@${at}.example`
      await makeUser(at, email)
      return { email, ...(await signInAs(app, at, client, email, { scope, parameters })) }
    }
  })
  .extend('readNickname', { scope: 'file' }, ({ tenant }) => async ({ userId }: SignedIn, at = tenant) => {
    const user = await dbFor(at).user.findFirstOrThrow({ where: { tenantId: at, id: userId } })
    return user.nickname
  })
  .extend(
    'expectForbidden',
    { scope: 'file' },
    ({ gql }) =>
      async (token: string, name: string, message: RegExp) => {
        const { body } = await gql(toMutation(name), {}, { token })
        expect(body).toMatchObject({
          data: { [name]: null },
          errors: [{ message: expect.stringMatching(message), extensions: { code: 'FORBIDDEN' } }],
        })
      },
  )
