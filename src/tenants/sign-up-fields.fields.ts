import * as z from 'zod'
import { ASKED_PROFILE_FIELDS } from '../model/profile-fields.ts'
import { DEFAULT_SIGN_UP_FIELDS, METADATA_PREFIX, type SignUpFieldSetting } from '../model/sign-up.ts'
import { standardField } from '../schema/fields.ts'
import { integer, oneOf, requiredText, text } from '../schema/input-shapes.ts'

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

const number = z.number('must be a number').optional()
const length = integer(0, MAX_LENGTH).optional()

/**
 * A subset of JSON Schema 2020-12 that a form can show. Regular expressions are not part of it: one can take
 * seconds.
 */
const memberSchema = z
  .strictObject(
    {
      type: oneOf(['string', 'integer', 'number', 'boolean']),
      enum: z.array(requiredText(100)).min(1).max(100).optional(),
      format: oneOf(['email', 'uri', 'date']).optional(),
      minLength: length,
      maxLength: length,
      minimum: number,
      maximum: number,
    },
    { error: (issue) => (issue.code === 'invalid_type' ? 'must be an object' : undefined) },
  )
  .meta(META.schema)

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
    schema: z.record(z.string(), z.unknown()).nullable().meta(META.schema),
  })
  .meta({ id: 'SignUpField', description: DESCRIPTION })

export const signUpFields = standardField(
  signUpFieldList,
  z.array(SignUpFieldShape),
  DEFAULT_SIGN_UP_FIELDS,
  DEFAULT_SIGN_UP_FIELDS,
)
