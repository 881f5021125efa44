import { Conflict, InvalidCredential, InvalidInput, UserLocked } from '../core/errors.ts'
import { CredentialRef } from '../credentials/credentials.graphql.ts'
import type { CredentialRow } from '../credentials/credentials.ts'
import type { TotpEnrollment } from '../credentials/totp-enrollment.ts'
import type { Credential } from '../generated/prisma/client.ts'
import { builder } from '../graphql/builder.ts'
import { withAccountScope, withPublicAccess } from '../graphql/field-access.ts'
import { toResultOptions } from '../graphql/result-options.ts'
import { confirmViewerTotp, createViewerRecoveryCodes, createViewerTotp } from './second-factors.ts'
import { STEP_UP_DESCRIPTION } from './step-up.ts'

const ViewerTotpPayload = builder.objectRef<TotpEnrollment>('ViewerTotpPayload').implement({
  ...withPublicAccess('A key for an authenticator app. It is shown only once.'),
  fields: (t) => ({
    token: t.exposeString('token', {
      description: 'For confirmViewerTotp, in the same session, within 15 minutes.',
    }),
    secret: t.exposeString('secret', { description: 'The key in base32, for entry by hand.' }),
    uri: t.exposeString('uri', { description: 'The otpauth URI, which opens an app on the same device.' }),
    qrCode: t.exposeString('qrCode', { description: 'The URI as a QR code: an SVG document.' }),
  }),
})

const CreateViewerTotpInput = builder.inputType('CreateViewerTotpInput', {
  description: 'Input of createViewerTotp.',
  fields: (t) => ({
    accountName: t.string({
      description: "The name of the account in the app; the user's e-mail address when omitted.",
    }),
  }),
})

builder.mutationField('createViewerTotp', (t) =>
  t.field({
    ...withAccountScope(
      `Creates a key for an authenticator app of the calling user (RFC 6238: SHA-1, six digits, 30 seconds). It counts after confirmViewerTotp. ${STEP_UP_DESCRIPTION}`,
    ),
    ...toResultOptions(InvalidInput),
    type: ViewerTotpPayload,
    args: { input: t.arg({ type: CreateViewerTotpInput, required: true, description: 'The name.' }) },
    resolve: (_root, { input }, { ctx }) => createViewerTotp(ctx, input),
  }),
)

const ViewerCredentialPayload = builder
  .objectRef<{ credential: CredentialRow }>('ViewerCredentialPayload')
  .implement({
    ...withPublicAccess('The second factor is enrolled.'),
    fields: (t) => ({
      credential: t.field({
        type: CredentialRef,
        description: 'The credential.',
        resolve: ({ credential }) => credential as Credential,
      }),
    }),
  })

const ConfirmViewerTotpInput = builder.inputType('ConfirmViewerTotpInput', {
  description: 'Input of confirmViewerTotp.',
  fields: (t) => ({
    token: t.string({ required: true, description: 'The token of createViewerTotp.' }),
    code: t.string({ required: true, description: 'The code that the app shows.' }),
  }),
})

builder.mutationField('confirmViewerTotp', (t) =>
  t.field({
    ...withAccountScope(
      `Stores the authenticator app of the calling user, by the first code that it shows. An earlier app is revoked. ${STEP_UP_DESCRIPTION}`,
    ),
    ...toResultOptions(InvalidInput, InvalidCredential, UserLocked),
    type: ViewerCredentialPayload,
    args: { input: t.arg({ type: ConfirmViewerTotpInput, required: true, description: 'The code.' }) },
    resolve: async (_root, { input }, { ctx }) => ({ credential: await confirmViewerTotp(ctx, input) }),
  }),
)

const ViewerRecoveryCodesPayload = builder
  .objectRef<{ credential: CredentialRow; codes: string[] }>('ViewerRecoveryCodesPayload')
  .implement({
    ...withPublicAccess('The recovery codes. They are shown only once.'),
    fields: (t) => ({
      credential: t.field({
        type: CredentialRef,
        description: 'The credential: the set of codes.',
        resolve: ({ credential }) => credential as Credential,
      }),
      codes: t.exposeStringList('codes', { description: 'The ten codes. Each is accepted once.' }),
    }),
  })

const CreateViewerRecoveryCodesInput = builder.inputType('CreateViewerRecoveryCodesInput', {
  description: 'Input of createViewerRecoveryCodes.',
  fields: (t) => ({
    replace: t.boolean({
      description: 'True to replace existing codes, which are then no longer accepted; CONFLICT otherwise.',
    }),
  }),
})

builder.mutationField('createViewerRecoveryCodes', (t) =>
  t.field({
    ...withAccountScope(
      `Creates recovery codes of the calling user, who must have an authenticator app. ${STEP_UP_DESCRIPTION}`,
    ),
    ...toResultOptions(InvalidInput, Conflict, UserLocked),
    type: ViewerRecoveryCodesPayload,
    args: {
      input: t.arg({
        type: CreateViewerRecoveryCodesInput,
        required: true,
        description: 'Whether to replace existing codes.',
      }),
    },
    resolve: (_root, { input }, { ctx }) => createViewerRecoveryCodes(ctx, input),
  }),
)
