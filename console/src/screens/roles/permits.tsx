import { t } from '../../words/words.ts'
import type { PermittedScope } from './role-dialog.tsx'

/** The scopes that a role permits. */
export const Permits = ({ scopes }: { scopes: readonly PermittedScope[] }) => (
  <details>
    <summary>{t('Permits {count} scopes', { count: scopes.length })}</summary>
    <ul className="permits">
      {scopes.map(({ scope, description }) => (
        <li key={scope}>
          {description} <code>{scope}</code>
        </li>
      ))}
    </ul>
  </details>
)
