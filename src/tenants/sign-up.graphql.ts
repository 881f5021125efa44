import { SIGN_UP_MODES, type SignUpFieldSetting, type SignUpMode } from '../core/sign-up.ts'
import { builder } from '../graphql/builder.ts'
import { withPublicAccess } from '../graphql/field-access.ts'

const MODE_DESCRIPTIONS: Record<SignUpMode, string> = {
  off: 'Nobody: callers of the API create users, or invite them.',
  open: 'Anybody with an e-mail address.',
  domains: 'Whoever has an e-mail address of one of signUpDomains.',
  invitation: 'Whoever was invited. The pages say so.',
}

export const SignUpEnum = builder.enumType('SignUp', {
  description: 'Who may create an account on the hosted pages.',
  values: Object.fromEntries(
    SIGN_UP_MODES.map((mode) => [mode.toUpperCase(), { value: mode, description: MODE_DESCRIPTIONS[mode] }]),
  ) as Record<Uppercase<SignUpMode>, { value: SignUpMode; description: string }>,
})

const FIELD_DESCRIPTIONS = {
  field: 'The field of the user, or userMetadata.NAME.',
  required: 'Whether it must not be empty.',
  label: 'The label on the page; by default that of the field.',
  schema:
    'JSON Schema of a member of userMetadata: type (string, integer, number or boolean), enum, format (email, uri or date), minLength, maxLength, minimum, maximum.',
}

export const SignUpFieldRef = builder.objectRef<SignUpFieldSetting>('SignUpField').implement({
  ...withPublicAccess('A field that a new user is asked for.'),
  fields: (t) => ({
    field: t.exposeString('field', { description: FIELD_DESCRIPTIONS.field }),
    required: t.exposeBoolean('required', { description: FIELD_DESCRIPTIONS.required }),
    label: t.exposeString('label', { nullable: true, description: FIELD_DESCRIPTIONS.label }),
    schema: t.expose('schema', {
      type: 'JSONObject',
      nullable: true,
      description: FIELD_DESCRIPTIONS.schema,
    }),
  }),
})

export const SignUpFieldInput = builder.inputType('SignUpFieldInput', {
  description: 'A field that a new user is asked for.',
  fields: (t) => ({
    field: t.string({ description: FIELD_DESCRIPTIONS.field }),
    required: t.boolean({ description: FIELD_DESCRIPTIONS.required }),
    label: t.string({ description: FIELD_DESCRIPTIONS.label }),
    schema: t.field({ type: 'JSONObject', description: FIELD_DESCRIPTIONS.schema }),
  }),
})
