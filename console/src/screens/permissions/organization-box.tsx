import { useState } from 'react'
import { graphql } from 'relay-runtime'
import type { organizationBoxQuery } from '../../generated/organizationBoxQuery.graphql.ts'
import { ChoiceBox } from '../../parts/choice-box.tsx'
import { useFound } from '../../parts/use-found.ts'
import { t } from '../../words/words.ts'

/** Finds an organization, in which a permission is asked; null for the tenant. */
export function OrganizationBox({
  onChoose,
  onClose,
}: {
  onChoose: (organization: { id: string; name: string } | null) => void
  onClose: () => void
}) {
  const [text, setText] = useState('')
  const search = text.trim()
  const { found, problem } = useFound<organizationBoxQuery>(
    graphql`
      query organizationBoxQuery($filter: OrganizationFilter) {
        organizations(first: 20, filter: $filter) {
          nodes {
            id
            name
            slug
          }
        }
      }
    `,
    search,
    { filter: search ? { search } : null },
  )
  const organizations = (found?.organizations?.nodes ?? []).map((organization) => ({
    key: organization.id,
    name: organization.name,
    detail: organization.slug,
    open: () => onChoose(organization),
  }))
  const tenant = { key: '', name: t('the tenant'), detail: '', open: () => onChoose(null) }
  return (
    <ChoiceBox
      title={t('Asked in')}
      label={t('Name or slug of an organization')}
      placeholder={t('Search by name or slug')}
      text={text}
      onType={setText}
      choices={search ? organizations : [tenant, ...organizations]}
      status={problem ?? (found ? t('No organization has this name or slug.') : t('Searching…'))}
      onClose={onClose}
    />
  )
}
