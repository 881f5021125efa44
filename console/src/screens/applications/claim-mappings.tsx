import '../users/users.css'
import { graphql, useFragment } from 'react-relay/hooks'
import type {
  claimMappings_client$data,
  claimMappings_client$key,
} from '../../generated/claimMappings_client.graphql.ts'
import { EditedForm } from '../../parts/edited-form.tsx'
import type { Saved } from '../../parts/edits.ts'
import { notify } from '../../parts/notices.tsx'
import { useMay } from '../../shell/viewer-scopes.ts'
import { t } from '../../words/words.ts'
import { ClaimRows, toMappings, toRowsText } from './claim-rows.tsx'
import { CLAIM_TEMPLATES } from './claim-templates.ts'
import { TokenPreview } from './token-preview.tsx'
import { useUpdateClient } from './update-client.ts'

/** The rows as JSON. */
type Values = { claimMappings: string }

const toSaved = (client: Omit<claimMappings_client$data, ' $fragmentType'>): Saved<Values> => ({
  values: { claimMappings: toRowsText(client.claimMappings) },
  updatedAt: client.updatedAt,
})

/** The claims that an application gets besides the standard ones, and what its tokens would have. */
export function ClaimMappings({ client: key }: { client: claimMappings_client$key }) {
  const client = useFragment(
    graphql`
      fragment claimMappings_client on Client {
        id
        appType
        updatedAt
        claimMappings {
          claim
          source
          path
          value
          scope
          targets
        }
      }
    `,
    key,
  )
  const mayWrite = useMay('clients:write')
  const update = useUpdateClient()
  const { problem } = update
  return (
    <div className="sections">
      <EditedForm<Values>
        saved={toSaved(client)}
        labels={{ claimMappings: t('Claims') }}
        isRunning={update.isRunning}
        problem={problem}
        shown={['claimMappings']}
        onSave={({ claimMappings = '[]' }, expectedUpdatedAt, settle) =>
          update.run(
            {
              input: {
                clientId: client.id,
                expectedUpdatedAt,
                claimMappings: toMappings(claimMappings),
              },
            },
            ({ updateClient }) => {
              settle(toSaved(updateClient?.client ?? client))
              notify(t('The claims are saved.'))
            },
          )
        }
      >
        {({ claimMappings }, enter) => (
          <ClaimRows
            rows={claimMappings}
            hint={t(
              'Standard claims come without a mapping. A scope of a mapping may be requested by this application.',
            )}
            targets={['ID_TOKEN', 'ACCESS_TOKEN', 'USERINFO']}
            templates={CLAIM_TEMPLATES}
            mayWrite={mayWrite}
            problem={problem}
            onChange={(rows) => enter({ claimMappings: rows })}
          />
        )}
      </EditedForm>
      {client.appType !== 'MACHINE' && (
        <TokenPreview
          clientId={client.id}
          updatedAt={client.updatedAt}
          scopes={['openid', ...new Set(client.claimMappings.flatMap(({ scope }) => scope ?? []))]}
        />
      )}
    </div>
  )
}
