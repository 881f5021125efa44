import * as z from 'zod'
import { ASKED_PROFILE_FIELDS } from '../model/profile-fields.ts'
import { DEFAULT_SIGN_UP_FIELDS, METADATA_PREFIX, type SignUpFieldSetting } from '../model/sign-up.ts'
import { defineEnum } from '../schema/enums.ts'
import { standardField } from '../schema/fields.ts'
import { integer, omitNulls, requiredText, text } from '../schema/input-shapes.ts'

const MAX_FIELDS = 20
const MAX_LENGTH = 1000
const FIELD_SYNTAX = new RegExp(
  `^(?:${ASKED_PROFILE_FIELDS.join('|')}|userMetadata\\.[A-Za-z][A-Za-z0-9_-]{0,49})$`,
)

const DESCRIPTION = 'A field that a new user is asked for.'
/** The descriptions and examples of its members. */
const META = {
  field: { description: 'The field of the user, or userMetadata.NAME.', example: 'userMetadata.company' },
  required: { description: 'Whether it must not be empty.', example: false },
  label: { description: 'The label on the page; by default that of the field.', example: 'Company' },
  schema: {
    description:
      'JSON Schema of a member of userMetadata: type (string, integer, number or boolean), enum, format (email, uri or date), minLength, maxLength, minimum, maximum.',
    example: { type: 'string', maxLength: 100 },
  },
}

const MEMBER_TYPE = defineEnum('SignUpFieldType', 'The type of a member of userMetadata.', {
  string: 'A text.',
  integer: 'A whole number.',
  number: 'A number.',
  boolean: 'True or false.',
})

const MEMBER_FORMAT = defineEnum('SignUpFieldFormat', 'The format of a text in userMetadata.', {
  email: 'An e-mail address.',
  uri: 'A web address.',
  date: 'A date, as YYYY-MM-DD.',
})

const number = z.number('must be a number')
const length = integer(0, MAX_LENGTH)

/**
 * A subset of JSON Schema 2020-12 that a form can show. Regular expressions are not part of it: one can take
 * seconds.
 */
const KEYWORDS = {
  type: MEMBER_TYPE.shape.meta({ description: 'The type of its value.' }),
  enum: z
    .array(requiredText(100))
    .min(1)
    .max(100)
    .nullish()
    .meta({ description: 'The values that a person chooses from.' }),
  format: MEMBER_FORMAT.shape.nullish().meta({ description: 'The format of a text.' }),
  minLength: length.nullish().meta({ description: 'The least number of characters of a text.' }),
  maxLength: length.nullish().meta({ description: 'The greatest number of characters of a text.' }),
  minimum: number.nullish().meta({ description: 'The least number.' }),
  maximum: number.nullish().meta({ description: 'The greatest number.' }),
}

const memberSchema = z
  .strictObject(KEYWORDS, {
    error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined),
  })
  .meta({ typeName: 'SignUpFieldSchemaInput', ...META.schema })
  .transform(omitNulls)

/** The keywords as responses have them: openapi.json states any members, and GraphQL has a field for each. */
const MemberSchemaShape = z.object(KEYWORDS).meta({
  typeName: 'SignUpFieldSchema',
  properties: undefined,
  required: undefined,
  additionalProperties: {},
  ...META.schema,
})

const signUpField = z
  .strictObject({
    field: text(100)
      .refine(
        (field) => FIELD_SYNTAX.test(field),
        `must be one of ${ASKED_PROFILE_FIELDS.join(', ')}, or ${METADATA_PREFIX} and the name of a member`,
      )
      .meta({ ...META.field, pattern: FIELD_SYNTAX.source }),
    required: z
      .boolean('must be true or false')
      .nullish()
      .transform((required) => required ?? false)
      .meta(META.required),
    label: requiredText(100)
      .nullish()
      .transform((label) => label ?? null)
      .meta(META.label),
    schema: memberSchema.nullish().transform((schema) => schema ?? null),
  })
  .superRefine(({ field, schema }, context) => {
    if (schema && !field.startsWith(METADATA_PREFIX))
      context.addIssue({ code: 'custom', path: ['schema'], message: 'is for members of userMetadata only' })
  })
  .meta({
    id: 'SignUpFieldInput',
    description: DESCRIPTION,
    example: { field: 'name', required: true },
  })

const signUpFieldList = z
  .array(signUpField, 'must be an array')
  .max(MAX_FIELDS, `must have at most ${MAX_FIELDS} entries`)
  .superRefine((fields, context) => {
    for (const [index, { field }] of fields.entries())
      if (fields.findIndex((other) => other.field === field) < index)
        context.addIssue({ code: 'custom', path: [index, 'field'], message: 'is given twice' })
  })
  .transform((fields) => fields as SignUpFieldSetting[])

const SignUpFieldShape = z
  .object({
    field: z.string().meta(META.field),
    required: z.boolean().meta(META.required),
    label: z.string().nullable().meta(META.label),
    schema: MemberSchemaShape.nullable(),
  })
  .meta({ id: 'SignUpField', description: DESCRIPTION })

export const signUpFields = standardField(
  signUpFieldList,
  z.array(SignUpFieldShape),
  DEFAULT_SIGN_UP_FIELDS,
  DEFAULT_SIGN_UP_FIELDS,
)
