import { useState } from 'react'
import { graphql } from 'react-relay/hooks'
import type { organizationSetupLinkCreateMutation } from '../../generated/organizationSetupLinkCreateMutation.graphql.ts'
import type { organizationSetupLinkRevokeMutation } from '../../generated/organizationSetupLinkRevokeMutation.graphql.ts'
import { CopiedText } from '../../parts/copied-text.tsx'
import { ProblemText } from '../../parts/form.tsx'
import { useProblemMutation } from '../../parts/mutation.ts'
import { notify } from '../../parts/notices.tsx'
import { Time } from '../../parts/time.tsx'
import { t } from '../../words/words.ts'

/** Makes the link with which the customer proves domains and configures the provider without an account. */
export function OrganizationSetupLink({ organizationId }: { organizationId: string }) {
  const [link, setLink] = useState<{ uri: string; expiresAt: string } | null>(null)
  const create = useProblemMutation<organizationSetupLinkCreateMutation>(graphql`
    mutation organizationSetupLinkCreateMutation($organizationId: ID!) {
      createOrganizationSetupLink(input: { organizationId: $organizationId }) {
        ... on CreateOrganizationSetupLinkPayload {
          uri
          expiresAt
        }
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  const revoke = useProblemMutation<organizationSetupLinkRevokeMutation>(graphql`
    mutation organizationSetupLinkRevokeMutation($organizationId: ID!) {
      revokeOrganizationSetupLink(input: { organizationId: $organizationId }) {
        __typename
        ...result_problem @alias(as: "problem") @relay(mask: false)
      }
    }
  `)
  return (
    <section aria-label={t('Set-up by the customer')}>
      <h3>{t('Set-up by the customer')}</h3>
      <p className="hint">
        {t(
          'A link opens a page on which somebody without an account proves domains and configures the provider. It can be opened once, within five minutes, and replaces the former one.',
        )}
      </p>
      {link && (
        <p>
          <CopiedText text={link.uri} /> {t('until')} <Time at={link.expiresAt} />
        </p>
      )}
      <ProblemText problem={create.problem ?? revoke.problem} />
      <div className="actions">
        <button
          type="button"
          className="button"
          disabled={create.isRunning}
          onClick={() =>
            create.run({ organizationId }, ({ createOrganizationSetupLink: made }) => {
              const { uri, expiresAt } = made ?? {}
              if (uri && expiresAt) setLink({ uri, expiresAt })
            })
          }
        >
          {t('Create a set-up link')}
        </button>
        {link && (
          <button
            type="button"
            className="button quiet"
            disabled={revoke.isRunning}
            onClick={() =>
              revoke.run({ organizationId }, () => {
                setLink(null)
                notify(t('The link is revoked.'))
              })
            }
          >
            {t('Revoke the link')}
          </button>
        )}
      </div>
    </section>
  )
}
