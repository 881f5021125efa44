import './claim-mappings.css'
import type {
  ClaimMappingInput,
  ClaimSource,
  ClaimTarget,
} from '../../generated/updateClientMutation.graphql.ts'
import { CheckField, Field, findFieldProblems, toggleChoice } from '../../parts/form.tsx'
import type { Problem } from '../../parts/result.ts'
import { t } from '../../words/words.ts'

/** A mapping as the form has it; texts are empty where the API has null. */
type Row = {
  claim: string
  source: ClaimSource
  path: string
  value: string
  scope: string
  targets: readonly ClaimTarget[]
}
const SOURCES: Readonly<Record<string, string>> = {
  USER: t('Field of the user'),
  APP_METADATA: t('Metadata of applications'),
  USER_METADATA: t("The user's own metadata"),
  ROLES: t('Roles at APIs'),
  GROUPS: t('Groups'),
  ORGANIZATION: t('Organization'),
  CONSTANT: t('Constant'),
}

/** The label of the path of a source, and a hint. */
const PATHS: Readonly<Record<string, [label: string, hint: string]>> = {
  USER: [t('Field'), t('Such as externalId')],
  APP_METADATA: [t('Path'), t('Such as /billing/plan')],
  USER_METADATA: [t('Path'), t('Such as /billing/plan')],
  ROLES: [t('API'), t('Its identifier. All roles when empty.')],
  GROUPS: [t('Of'), t('organization, or empty for those of the tenant.')],
  ORGANIZATION: [t('Field'), t('id, slug, name, externalId, or a path such as /plan')],
}

const TARGETS: Readonly<Record<string, string>> = {
  ID_TOKEN: t('ID token'),
  ACCESS_TOKEN: t('Access token'),
  USERINFO: t('Userinfo'),
}

const toRow = ({ claim, source, path, value, scope, targets }: ClaimMappingInput): Row => ({
  claim,
  source,
  path: path ?? '',
  value: value ?? '',
  scope: scope ?? '',
  targets,
})

/** Mappings as the rows of a form, as JSON: forms compare texts. The API answers with what it accepts. */
export const toRowsText = (mappings: readonly object[]): string =>
  JSON.stringify(mappings.map((mapping) => toRow(mapping as ClaimMappingInput)))

const toInput = ({ claim, source, path, value, scope, targets }: Row): ClaimMappingInput => ({
  claim: claim.trim(),
  source,
  path: source === 'CONSTANT' ? null : path.trim() || null,
  value: source === 'CONSTANT' ? value : null,
  scope: scope.trim() || null,
  targets,
})

/** The rows of a form as the API takes them. */
export const toMappings = (rows: string): ClaimMappingInput[] => (JSON.parse(rows) as Row[]).map(toInput)

const NEW: Row = { claim: '', source: 'USER', path: '', value: '', scope: '', targets: ['ID_TOKEN'] }

/** The mappings of a client or of an API, a row each. */
export function ClaimRows({
  rows: text,
  hint,
  targets,
  templates = {},
  mayWrite,
  problem,
  onChange,
}: {
  /** As JSON, as `toRowsText` writes it. */
  rows: string
  hint: string
  /** Where the claims may come out. */
  targets: readonly ClaimTarget[]
  /** Mappings that a click adds. */
  templates?: Readonly<Record<string, readonly ClaimMappingInput[]>>
  mayWrite: boolean
  problem: Problem | null
  onChange: (rows: string) => void
}) {
  const rows = JSON.parse(text) as Row[]
  const change = (changed: readonly Row[]) => onChange(JSON.stringify(changed))
  const add = (added: readonly Row[]) =>
    change([
      ...rows,
      ...added.filter(({ claim }) => claim === '' || !rows.some((row) => row.claim === claim)),
    ])
  return (
    <section className="card">
      <h2>{t('Claims')}</h2>
      <p className="hint">{hint}</p>
      <fieldset className="plain" disabled={!mayWrite} aria-label={t('Claims')}>
        {rows.length === 0 && <p className="empty">{t('No claim is mapped.')}</p>}
        {rows.map((row, index) => (
          <MappingRow
            // biome-ignore lint/suspicious/noArrayIndexKey: rows keep their places
            key={index}
            index={index}
            row={row}
            problem={problem}
            targets={targets}
            onChange={(entered) =>
              change(rows.map((other, place) => (place === index ? { ...other, ...entered } : other)))
            }
            onRemove={() => change(rows.filter((_, place) => place !== index))}
          />
        ))}
        <div className="actions templates">
          <button
            type="button"
            className="button quiet"
            onClick={() => add([{ ...NEW, targets: targets.slice(0, 1) }])}
          >
            {t('Add a claim')}
          </button>
          {Object.entries(templates).map(([name, mappings]) => (
            <button
              key={name}
              type="button"
              className="chip"
              title={t('Add the claims that {name} reads', { name })}
              onClick={() => add(mappings.map(toRow))}
            >
              {name}
            </button>
          ))}
        </div>
      </fieldset>
    </section>
  )
}

function MappingRow({
  index,
  row,
  targets,
  problem,
  onChange,
  onRemove,
}: {
  index: number
  row: Row
  targets: readonly ClaimTarget[]
  problem: Problem | null
  onChange: (change: Partial<Row>) => void
  onRemove: () => void
}) {
  const at = `claimMappings.${index}`
  const toText = (name: 'claim' | 'path' | 'value' | 'scope', label: string, hint?: string) => (
    <Field label={label} name={`${at}.${name}`} hint={hint} problem={problem}>
      {(props) => (
        <input
          {...props}
          autoComplete="off"
          spellCheck={false}
          value={row[name]}
          onChange={({ target }) => onChange({ [name]: target.value })}
        />
      )}
    </Field>
  )
  return (
    <fieldset className="mapping" aria-label={row.claim || t('New claim')}>
      {toText('claim', t('Claim'))}
      <Field label={t('Source')} name={`${at}.source`} problem={problem}>
        {(props) => (
          <select
            {...props}
            value={row.source}
            onChange={({ target }) => onChange({ source: target.value as ClaimSource })}
          >
            {Object.entries(SOURCES).map(([name, label]) => (
              <option key={name} value={name}>
                {label}
              </option>
            ))}
          </select>
        )}
      </Field>
      {row.source === 'CONSTANT'
        ? toText('value', t('Text'))
        : toText('path', ...(PATHS[row.source] ?? [t('Path'), '']))}
      {toText('scope', t('Scope'), row.source === 'APP_METADATA' ? undefined : t('Always when empty.'))}
      <div className="targets">
        {targets.length > 1 &&
          targets.map((target) => (
            <CheckField
              key={target}
              label={TARGETS[target] ?? target}
              checked={row.targets.includes(target)}
              onChange={(isOn) =>
                onChange({
                  targets: toggleChoice(row.targets, target, isOn),
                })
              }
            />
          ))}
        {findFieldProblems(problem, `${at}.targets`).map(({ description }) => (
          <p key={description} className="field-problem">
            {description}
          </p>
        ))}
      </div>
      <button
        type="button"
        className="button quiet"
        aria-label={t('Remove {name}', { name: row.claim || t('New claim') })}
        onClick={onRemove}
      >
        {t('Remove')}
      </button>
    </fieldset>
  )
}
