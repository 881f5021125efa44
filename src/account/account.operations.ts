import { REVOKED_CONSENT } from '../consents/consents.fields.ts'
import { Conflict, InvalidCredential, NotFound, StepUpRequired } from '../core/errors.ts'
import { builder } from '../graphql/builder.ts'
import { withScope } from '../graphql/field-access.ts'
import { toObjectType } from '../graphql/shape-fields.ts'
import { defineMutation } from '../operations/mutation.ts'
import { defineRestRoute, type RestRoute } from '../rest/route.ts'
import { REVOKED_SESSION, REVOKED_SESSIONS } from '../sessions/sessions.fields.ts'
import { USER } from '../users/users.operations.ts'
import {
  AccountDeletionShape,
  AccountPatch,
  ConfirmAddressChange,
  REQUESTED_ADDRESS_CHANGE,
  RemovePhoneNumber,
  RequestAddressChange,
  RevokeViewerSessions,
  SetViewerDeletion,
  UserDeletionShape,
} from './account.fields.ts'
import {
  type AccountDeletion,
  findDeletions,
  findUserDeletion,
  setViewerDeletion,
} from './account-deletion.ts'
import { confirmEmailChange, confirmPhoneNumberChange } from './confirm-address-change.ts'
import { revokeViewerConsent } from './consents.ts'
import { removeViewerPhoneNumber } from './phone-number-removal.ts'
import { updateViewer } from './profile.ts'
import { requestEmailChange, requestPhoneNumberChange } from './request-address-change.ts'
import { revokeViewerSession, revokeViewerSessions } from './sessions.ts'

defineMutation({
  name: 'updateViewer',
  summary:
    'Changes the profile of the calling user. userMetadata has 8 KB at most. Addresses change by verification: see requestEmailChange.',
  scope: 'account',
  input: AccountPatch,
  errors: [Conflict],
  output: { user: USER },
  run: async (ctx, _ids, input) => ({ user: await updateViewer(ctx, input) }),
})

defineMutation({
  name: 'requestEmailChange',
  summary:
    'Sends a code to the new e-mail address of the calling user; confirmEmailChange accepts it within 10 minutes, in the same session.',
  scope: 'account',
  input: RequestAddressChange.email,
  errors: [StepUpRequired],
  output: REQUESTED_ADDRESS_CHANGE,
  run: (ctx, _ids, input) => requestEmailChange(ctx, input),
})

defineMutation({
  name: 'requestPhoneNumberChange',
  summary:
    'Sends a code to the new phone number of the calling user; confirmPhoneNumberChange accepts it within 10 minutes, in the same session.',
  scope: 'account',
  input: RequestAddressChange.sms,
  errors: [StepUpRequired],
  output: REQUESTED_ADDRESS_CHANGE,
  run: (ctx, _ids, input) => requestPhoneNumberChange(ctx, input),
})

const CONFIRM_ERRORS = [InvalidCredential, Conflict] as const

defineMutation({
  name: 'confirmEmailChange',
  summary: 'Sets the verified e-mail address of the calling user, by the code that was sent to it.',
  scope: 'account',
  input: ConfirmAddressChange.email,
  errors: CONFIRM_ERRORS,
  output: { user: USER },
  run: async (ctx, _ids, input) => ({ user: await confirmEmailChange(ctx, input) }),
})

defineMutation({
  name: 'confirmPhoneNumberChange',
  summary: 'Sets the verified phone number of the calling user, by the code that was sent to it.',
  scope: 'account',
  input: ConfirmAddressChange.sms,
  errors: CONFIRM_ERRORS,
  output: { user: USER },
  run: async (ctx, _ids, input) => ({ user: await confirmPhoneNumberChange(ctx, input) }),
})

defineMutation({
  name: 'removeViewerPhoneNumber',
  summary: 'Removes the phone number of the calling user, who must have a verified e-mail address.',
  scope: 'account',
  input: RemovePhoneNumber,
  errors: [StepUpRequired],
  output: { user: USER },
  run: async (ctx, _ids, input) => ({ user: await removeViewerPhoneNumber(ctx, input) }),
})

defineMutation({
  name: 'setViewerDeletion',
  summary:
    "Requests the deletion of the calling user after the days of the tenant's setting accountDeletionDays, or cancels the request.",
  scope: 'account',
  input: SetViewerDeletion,
  errors: [StepUpRequired],
  output: UserDeletionShape.shape,
  run: async (ctx, _ids, input) => ({ deletion: await setViewerDeletion(ctx, input) }),
})

defineMutation({
  name: 'revokeViewerSession',
  summary:
    'Ends a session of the calling user with its client sessions and tokens; the current session includes the access token.',
  scope: 'account',
  targets: ['sessionId'],
  errors: [NotFound],
  output: REVOKED_SESSION,
  run: (ctx, { sessionId }) => revokeViewerSession(ctx, sessionId),
})

defineMutation({
  name: 'revokeViewerSessions',
  summary: 'Ends all other sessions of the calling user. The current session stays active.',
  scope: 'account',
  input: RevokeViewerSessions,
  output: REVOKED_SESSIONS,
  run: (ctx, _ids, input) => revokeViewerSessions(ctx, input),
})

defineMutation({
  name: 'revokeViewerConsent',
  summary:
    'Revokes the consent of the calling user for a client, with the tokens and sessions of the client.',
  scope: 'account',
  targets: ['clientId'],
  errors: [NotFound],
  output: REVOKED_CONSENT,
  run: (ctx, { clientId }) => revokeViewerConsent(ctx, clientId),
})

const USER_DELETION = {
  summary: 'The request of a user to be deleted, if any.',
  scope: 'users:read',
} as const

builder.prismaObjectField('User', 'deletion', (t) =>
  t.field({
    ...withScope(USER_DELETION.scope, USER_DELETION.summary),
    type: toObjectType<AccountDeletion>(AccountDeletionShape),
    nullable: true,
    select: { id: true },
    resolve: ({ id }, _args, { loaders }) => loaders.over(findDeletions).load(id),
  }),
)

/** The routes of what users do with their accounts, as administrators see it. */
export const accountOperations: readonly RestRoute[] = [
  defineRestRoute({
    ...USER_DELETION,
    method: 'GET',
    path: '/users/:userId/deletion',
    operationId: 'getUserDeletion',
    response: UserDeletionShape,
    handle: async (ctx, { params }) => ({ deletion: await findUserDeletion(ctx, params.userId) }),
  }),
]
