import * as z from 'zod'
import { toEmailKey } from '../schema/address-keys.ts'
import { defineEnum } from '../schema/enums.ts'
import { enumField, listExamples, mapShapes, requiredField } from '../schema/fields.ts'
import { text } from '../schema/input-shapes.ts'
import { createIdShape, instantShape } from '../schema/response-shapes.ts'

/** A name has 253 characters at most, that of the record included. */
const MAX_DOMAIN_LENGTH = 230

const LABEL = '[A-Za-z0-9\\u0080-\\uffff](?:[A-Za-z0-9\\u0080-\\uffff-]{0,61}[A-Za-z0-9\\u0080-\\uffff])?'
/** Two labels or more, and not an IPv4 address. */
const SYNTAX = new RegExp(`^(?!(?:.*\\.)?[0-9]+$)${LABEL}(?:\\.${LABEL})+$`)

/** The domain as in keys of addresses: in ASCII (RFC 5891) and lower case. */
const toAscii = (value: string): string | undefined => toEmailKey(`x@${value}`)?.slice(2)

const domain = text(MAX_DOMAIN_LENGTH)
  .refine(
    (value) => SYNTAX.test(value) && (toAscii(value)?.length ?? Infinity) <= MAX_DOMAIN_LENGTH,
    'must be a domain such as example.com',
  )
  .transform((value) => toAscii(value) ?? value)
  .meta({ pattern: SYNTAX.source })

const ENROLLMENT = defineEnum(
  'DomainEnrollment',
  'Who becomes a member of an organization by an address of its domain.',
  {
    none: 'Nobody.',
    automatic:
      'Users who prove an address of the domain, when they sign up or sign in, while the domain is proven.',
  },
)

const STATE = defineEnum('OrganizationDomainState', 'Whether a domain is proven.', {
  pending: 'It is not proven.',
  verified: 'It is proven.',
  expiring: 'It is proven until `expiresAt`: the last checks did not find the record.',
})

const PROBLEM = defineEnum('DomainProblem', 'What a check found instead of the record.', {
  missing: 'No TXT record of the name.',
  different: 'TXT records of the name with other values.',
  unanswered: 'No answer of the DNS.',
})
export type DomainProblem = (typeof PROBLEM.values)[number]

const FIELDS = {
  domain: requiredField(domain, z.string(), 'example.com'),
  enrollment: enumField(ENROLLMENT, 'none', 'automatic'),
}
const META = { model: 'OrganizationDomain', samples: listExamples(FIELDS) }

/** Input of createOrganizationDomain. */
export const OrganizationDomainCreate = z
  .strictObject(mapShapes(FIELDS, 'creation'), 'must be an object')
  .meta({ id: 'OrganizationDomainCreate', ...META })

/** Input of updateOrganizationDomain. */
export const OrganizationDomainPatch = z
  .strictObject({ enrollment: FIELDS.enrollment.change }, 'must be an object')
  .meta({ id: 'OrganizationDomainPatch', ...META })

/** Input of verifyOrganizationDomain. */
export const OrganizationDomainVerification = z
  .strictObject({}, 'must be an object')
  .meta({ id: 'OrganizationDomainVerification', description: 'It has no members.' })

/** A domain of an organization as responses have it. */
export const OrganizationDomainShape = z
  .object({
    id: createIdShape('orgdomain').meta({ description: 'Id of the domain.' }),
    organizationId: createIdShape('organization'),
    ...mapShapes(FIELDS, 'answer'),
    state: STATE.shape.meta({ example: 'verified' }),
    recordName: z.string().meta({ example: '_vestibule-challenge.example.com' }),
    recordValue: z.string().meta({ example: 'Zk1vN3cYp0sRbTq8uXeHj5mLwD7aGfK2iOyQxV4tCnE' }),
    problem: PROBLEM.shape.nullable().meta({ example: null }),
    verifiedAt: instantShape.nullable(),
    expiresAt: instantShape.nullable().meta({ example: null }),
    checkedAt: instantShape.nullable(),
    nextCheckAt: instantShape.nullable(),
    updatedAt: instantShape,
    createdAt: instantShape,
  })
  .meta({ id: 'OrganizationDomain', ...META })
