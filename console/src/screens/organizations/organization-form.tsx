import '../applications/applications.css'
import { useState } from 'react'
import { graphql, useFragment } from 'react-relay/hooks'
import type {
  organizationForm_organization$data,
  organizationForm_organization$key,
} from '../../generated/organizationForm_organization.graphql.ts'
import type { organizationFormMutation } from '../../generated/organizationFormMutation.graphql.ts'
import { EditedForm } from '../../parts/edited-form.tsx'
import type { Saved } from '../../parts/edits.ts'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import type { Problem } from '../../parts/result.ts'
import { t } from '../../words/words.ts'
import { TextField } from '../permissions/api-permissions.tsx'
import { findJsonProblem } from '../users/profile-fields.tsx'

type Name = 'name' | 'slug' | 'externalId' | 'logoUrl' | 'themeColor' | 'metadata'
/** `metadata` is JSON. */
type Values = Record<Name, string>

const LABELS: Record<Name, string> = {
  name: t('Name'),
  slug: t('Slug'),
  externalId: t('External id'),
  logoUrl: t('URL of the logo'),
  themeColor: t('Accent color'),
  metadata: t('Metadata'),
}
const NAMES = Object.keys(LABELS) as Name[]

const HINTS: Partial<Record<Name, string>> = {
  slug: t('In URLs and tokens. Applications that know it need the new one.'),
  externalId: t('Its identifier in another system.'),
  themeColor: t('A color such as #0a7c66.'),
}

const toSaved = (
  organization: Omit<organizationForm_organization$data, ' $fragmentType'>,
): Saved<Values> => ({
  values: {
    name: organization.name,
    slug: organization.slug,
    externalId: organization.externalId ?? '',
    logoUrl: organization.logoUrl ?? '',
    themeColor: organization.themeColor ?? '',
    metadata: JSON.stringify(organization.metadata ?? {}, null, 2),
  },
  updatedAt: organization.updatedAt,
})

const toProblem = (description: string): Problem => ({
  message: t('The metadata cannot be saved.'),
  fields: [{ field: 'metadata', description }],
})

/** What an organization is, for administrators of the tenant. */
export function OrganizationForm({
  organization: key,
  mayWrite,
}: {
  organization: organizationForm_organization$key
  mayWrite: boolean
}) {
  const organization = useFragment(
    graphql`
      fragment organizationForm_organization on Organization {
        id
        name
        slug
        externalId
        logoUrl
        themeColor
        metadata
        updatedAt
      }
    `,
    key,
  )
  const update = useProblemMutation<organizationFormMutation>(graphql`
    mutation organizationFormMutation($input: UpdateOrganizationInput!) {
      updateOrganization(input: $input) {
        ... on UpdateOrganizationPayload {
          organization {
            ...organizationForm_organization @relay(mask: false)
          }
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const [invalid, setInvalid] = useState<Problem | null>(null)
  const problem = invalid ?? update.problem
  return (
    <EditedForm<Values>
      saved={toSaved(organization)}
      labels={LABELS}
      isRunning={update.isRunning}
      problem={problem}
      shown={NAMES}
      onSave={({ metadata, ...texts }, expectedUpdatedAt, settle) => {
        const description = metadata === undefined ? null : findJsonProblem(metadata)
        setInvalid(description ? toProblem(description) : null)
        if (description) return
        update.run(
          {
            input: {
              organizationId: organization.id,
              expectedUpdatedAt,
              ...texts,
              ...(metadata !== undefined && { metadata: JSON.parse(metadata) as Record<string, unknown> }),
            },
          },
          ({ updateOrganization }) => {
            settle(toSaved(updateOrganization?.organization ?? organization))
            notify(t('Saved.'))
          },
        )
      }}
    >
      {(values, enter) => (
        <section className="card">
          <h2>{t('Organization')}</h2>
          <fieldset className="settings" disabled={!mayWrite} aria-label={t('Organization')}>
            {NAMES.map((name) => (
              <TextField
                key={name}
                label={LABELS[name]}
                name={name}
                hint={HINTS[name]}
                problem={problem}
                value={values[name]}
                onEnter={(value) => enter({ [name]: value })}
                {...(name === 'metadata' && { rows: 4 })}
              />
            ))}
          </fieldset>
        </section>
      )}
    </EditedForm>
  )
}
