import * as z from 'zod'
import { Conflict, InvalidCredential, NotFound, StepUpRequired, UserLocked } from '../core/errors.ts'
import { EnrollmentTokenCreate, EnrollmentTokenShape } from '../credentials/credentials.fields.ts'
import { CREDENTIAL } from '../credentials/credentials.operations.ts'
import { IdpUserLink } from '../idps/idp-users.fields.ts'
import { IDP_USER } from '../idps/idp-users.operations.ts'
import { defineMutation } from '../operations/mutation.ts'
import { createIdShape } from '../schema/response-shapes.ts'
import {
  ConfirmViewerTotp,
  CreateViewerRecoveryCodes,
  CreateViewerTotp,
  recoveryCodes,
  TotpEnrollmentShape,
} from './account.fields.ts'
import { confirmViewerTotp, createViewerRecoveryCodes, createViewerTotp } from './second-factors.ts'
import {
  createViewerEnrollmentToken,
  linkViewerIdpUser,
  revokeViewerCredential,
  unlinkViewerIdpUser,
} from './sign-in-methods.ts'

/**
 * Without accessToken: most providers do not name the client that an access token was issued to, so a token
 * of any other site that the user signed in to would be accepted.
 */
const { accessToken: _, ...VIEWER_PROOFS } = IdpUserLink.shape

defineMutation({
  name: 'createViewerEnrollmentToken',
  summary: 'Creates a link with which the calling user creates one passkey within 24 hours.',
  scope: 'account',
  input: EnrollmentTokenCreate.pick({ type: true }),
  errors: [StepUpRequired, UserLocked],
  output: EnrollmentTokenShape.shape,
  run: (ctx, _ids, input) => createViewerEnrollmentToken(ctx, input as object),
})

defineMutation({
  name: 'linkViewerIdpUser',
  summary:
    'Links the calling user to the identity that the proof shows, an ID token or a code, which is verified with the provider first.',
  scope: 'account',
  targets: ['idpId'],
  input: z.strictObject(VIEWER_PROOFS),
  errors: [StepUpRequired, Conflict, NotFound],
  output: { idpUser: IDP_USER },
  run: async (ctx, { idpId }, input) => ({ idpUser: await linkViewerIdpUser(ctx, idpId, input) }),
})

defineMutation({
  name: 'revokeViewerCredential',
  summary:
    'Revokes a credential of the calling user, who must have a verified address unless it is a second factor.',
  scope: 'account',
  targets: ['credentialId'],
  errors: [StepUpRequired, NotFound],
  output: {
    revokedCredentialId: createIdShape('cred').meta({ description: 'Id of the revoked credential.' }),
  },
  run: (ctx, { credentialId }) => revokeViewerCredential(ctx, credentialId),
})

defineMutation({
  name: 'unlinkViewerIdpUser',
  summary:
    'Deletes the link of the calling user to an identity provider; the user must have a verified address.',
  scope: 'account',
  targets: ['idpId'],
  errors: [StepUpRequired, NotFound],
  output: { unlinkedIdpUserId: createIdShape('idpuser').meta({ description: 'Id of the deleted link.' }) },
  run: (ctx, { idpId }) => unlinkViewerIdpUser(ctx, idpId),
})

defineMutation({
  name: 'createViewerTotp',
  summary:
    'Creates a key for an authenticator app of the calling user (RFC 6238: SHA-1, six digits, 30 seconds). It counts after confirmViewerTotp.',
  scope: 'account',
  input: CreateViewerTotp,
  errors: [StepUpRequired],
  output: TotpEnrollmentShape.shape,
  run: (ctx, _ids, input) => createViewerTotp(ctx, input),
})

defineMutation({
  name: 'confirmViewerTotp',
  summary:
    'Stores the authenticator app of the calling user, by the first code that it shows. An earlier app is revoked.',
  scope: 'account',
  input: ConfirmViewerTotp,
  errors: [StepUpRequired, InvalidCredential, UserLocked],
  output: { credential: CREDENTIAL },
  run: async (ctx, _ids, input) => ({ credential: await confirmViewerTotp(ctx, input) }),
})

defineMutation({
  name: 'createViewerRecoveryCodes',
  summary: 'Creates recovery codes of the calling user, who must have an authenticator app.',
  scope: 'account',
  input: CreateViewerRecoveryCodes,
  errors: [StepUpRequired, Conflict, UserLocked],
  output: { credential: CREDENTIAL, codes: recoveryCodes },
  run: (ctx, _ids, input) => createViewerRecoveryCodes(ctx, input),
})
