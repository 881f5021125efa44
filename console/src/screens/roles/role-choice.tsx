import { graphql, useFragment } from 'react-relay/hooks'
import type { roleChoice_query$key } from '../../generated/roleChoice_query.graphql.ts'
import { CheckField, toggleChoice } from '../../parts/form.tsx'
import { useLacks } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'

/** A choice of roles, with what each permits where `hasWords`. Nobody gives or takes a role that permits more than the own ones. */
export function RoleChoice({
  query,
  chosen,
  hasWords,
  onChange,
}: {
  query: roleChoice_query$key
  chosen: readonly string[]
  hasWords: boolean
  onChange: (chosen: string[]) => void
}) {
  const { roles } = useFragment(
    graphql`
      fragment roleChoice_query on Query {
        roles {
          role
          scopes {
            scope
            description
          }
        }
      }
    `,
    query,
  )
  const lacksScope = useLacks()
  return roles?.map(({ role, scopes }) => (
    <CheckField
      key={role}
      label={role}
      hint={
        lacksScope(scopes)
          ? t('Permits more than you may.')
          : hasWords &&
            t('May {permissions}.', { permissions: scopes.map(({ description }) => description).join('; ') })
      }
      checked={chosen.includes(role)}
      disabled={lacksScope(scopes)}
      onChange={(isOn) => onChange(toggleChoice(chosen, role, isOn))}
    />
  ))
}
