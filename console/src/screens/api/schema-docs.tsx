import { Link } from '@tanstack/react-router'
import {
  type GraphQLNamedType,
  type GraphQLType,
  getNamedType,
  isEnumType,
  isInputObjectType,
  isInterfaceType,
  isObjectType,
  isUnionType,
} from 'graphql'
import { type ReactNode, useEffect, useRef } from 'react'
import { SearchBox } from '../../parts/search-box.tsx'
import { t } from '../../words/words.ts'
import {
  listArguments,
  listMembers,
  listPossibleTypes,
  listUses,
  SCHEMA,
  type SchemaMember,
  searchSchema,
  TYPES,
} from './schema.ts'

const describeKind = (type: GraphQLNamedType): string => {
  if (isObjectType(type)) return t('Object')
  if (isInterfaceType(type)) return t('Interface')
  if (isUnionType(type)) return t('Union')
  if (isEnumType(type)) return t('Enum')
  return isInputObjectType(type) ? t('Input') : t('Scalar')
}

/** Leads to the documentation of a type or of one of its members. */
function DocsLink({ doc, children }: { doc: string; children: ReactNode }) {
  return (
    <Link
      to="/api"
      search={(former) => ({ ...former, doc, find: undefined })}
      resetScroll={false}
      activeProps={{}}
    >
      <code>{children}</code>
    </Link>
  )
}

const TypeLink = ({ type }: { type: GraphQLType }) => (
  <DocsLink doc={getNamedType(type).name}>{String(type)}</DocsLink>
)

/** The words of a description, with what stands between backticks as code. */
const Words = ({ text }: { text: string | null | undefined }) =>
  text ? (
    <p>
      {text.split('`').map((part, index) =>
        // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a text do not move
        index % 2 === 0 ? part : <code key={index}>{part}</code>,
      )}
    </p>
  ) : null

function Member({ member, isSought }: { member: SchemaMember; isSought: boolean }) {
  const row = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (isSought) row.current?.scrollIntoView({ block: 'nearest' })
  }, [isSought])
  const parameters = listArguments(member)
  return (
    <li ref={row} className={isSought ? 'sought' : ''}>
      <code className="member">{member.name}</code>
      {'type' in member && (
        <>
          : <TypeLink type={member.type} />
        </>
      )}
      {member.deprecationReason && <span className="badge">{t('Deprecated')}</span>}
      <Words text={member.description} />
      <Words text={member.deprecationReason} />
      {parameters.length > 0 && (
        <ul aria-label={t('Arguments of {name}', { name: member.name })}>
          {parameters.map((argument) => (
            <li key={argument.name}>
              <code>{argument.name}</code>: <TypeLink type={argument.type} />
              <Words text={argument.description} />
            </li>
          ))}
        </ul>
      )}
    </li>
  )
}

function TypeDocs({ type, sought }: { type: GraphQLNamedType; sought: string | undefined }) {
  const members = listMembers(type)
  const possible = listPossibleTypes(type)
  const uses = listUses(type)
  return (
    <>
      <h3>
        {type.name} <span className="badge">{describeKind(type)}</span>
      </h3>
      <Words text={type.description} />
      {possible.length > 0 && (
        <ul aria-label={t('Possible types')} className="docs-names">
          {possible.map(({ name }) => (
            <li key={name}>
              <DocsLink doc={name}>{name}</DocsLink>
            </li>
          ))}
        </ul>
      )}
      <ul className="docs-members" aria-label={isEnumType(type) ? t('Values') : t('Fields')}>
        {members.map((member) => (
          <Member key={member.name} member={member} isSought={member.name === sought} />
        ))}
      </ul>
      {uses.length > 0 && (
        <details>
          <summary>{t('Where it is used')}</summary>
          <ul className="docs-names">
            {uses.map(({ owner, member }) => (
              <li key={`${owner}.${member}`}>
                <DocsLink doc={`${owner}.${member}`}>
                  {owner}.{member}
                </DocsLink>
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  )
}

const ROOTS = ['Query', 'Mutation', 'Subscription']

const Names = ({ names, label }: { names: readonly string[]; label: string }) => (
  <ul className="docs-names" aria-label={label}>
    {names.map((name) => (
      <li key={name}>
        <DocsLink doc={name}>{name}</DocsLink>
      </li>
    ))}
  </ul>
)

function Found({ search }: { search: string }) {
  const found = searchSchema(search)
  if (found.length === 0) return <p className="empty">{t('Nothing in the schema has this in its name.')}</p>
  return (
    <Names
      label={t('Types and fields')}
      names={found.map(({ owner, member }) => (member ? `${owner}.${member}` : owner))}
    />
  )
}

/** The documentation of the schema: a search, or a type (`User`) with one of its members (`User.email`). */
export function SchemaDocs({
  doc = '',
  search,
  onSearch,
}: {
  doc: string | undefined
  search: string
  onSearch: (search: string) => void
}) {
  const [name = '', member] = doc.split('.')
  const type = SCHEMA.getType(name)
  return (
    <div className="docs">
      <SearchBox label={t('Search types and fields')} search={search} onSearch={onSearch} />
      {search ? (
        <Found search={search} />
      ) : type ? (
        <>
          <p>
            <DocsLink doc="">{t('All types')}</DocsLink>
          </p>
          <TypeDocs key={name} type={type} sought={member} />
        </>
      ) : (
        <>
          <Names label={t('Operations')} names={ROOTS} />
          <h3>{t('All types')}</h3>
          <Names
            label={t('All types')}
            names={TYPES.map(({ name: other }) => other).filter((other) => !ROOTS.includes(other))}
          />
        </>
      )}
    </div>
  )
}
