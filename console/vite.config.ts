import { defineConfig, type Plugin } from 'vite'
import relay from 'vite-plugin-relay'

/** Modules of Relay that the console does not use, or that no feature flag selects. Its packages cannot be shaken. */
const UNUSED_MODULES =
  /\/re(act-relay|lay-runtime)\/.*\/(useFragmentInternal_CURRENT|useMutationAction_EXPERIMENTAL|\w+Experimental|EntryPointContainer\.react|loadEntryPoint|use(EntryPointLoader|PreloadedQuery|SubscribeToInvalidationState)|RelayQueryResponseCache|RelayDeclarativeMutationConfig|applyOptimisticMutation|createUpdatableProxy|fetchQuery_DEPRECATED)\.js$/
/** Relay's cache of client-side resolvers, of which the console has none. */
const RESOLVER_CACHE = /\/relay-runtime\/.*\/LiveResolverCache\.js$/
const EMPTY_RESOLVER_CACHE = `
class LiveResolverCache {
  batchLiveStateUpdates(update) { update() }
  batchLiveStateUpdatesWithoutNotify(update) { update(); return false }
  getLiveResolverPromise() {}
  invalidateDataIDs() {}
  invalidateResolverRecords() {}
  notifyUpdatedSubscribers() {}
  unsubscribeFromLiveResolverRecords() {}
}
module.exports = {
  LiveResolverCache,
  RELAY_RESOLVER_LIVE_STATE_SUBSCRIPTION_KEY: '__resolverLiveStateSubscription',
  getUpdatedDataIDs: (ids) => ids,
}`
const withoutUnusedModules: Plugin = {
  name: 'without-unused-modules',
  load: (id) =>
    UNUSED_MODULES.test(id) ? 'module.exports = {}' : RESOLVER_CACHE.test(id) ? EMPTY_RESOLVER_CACHE : null,
}

/** Modules of the first screen. Those that other screens have as well would be as many small files, which compress badly. */
const FIRST_MODULES =
  /\/console\/src\/(api\/|auth\/|config|shell\/(?!box|shortcuts|tenant-switcher)|parts\/(avatar|copied-text|live-events|notices|skeleton|time)\.)/

/** The editor of the API screen, and the schema that it knows. */
const EDITOR_MODULES =
  /node_modules[\\/](@codemirror|@lezer|@marijn|cm6-graphql|crelt|debounce-promise|graphql|graphql-language-service|nullthrows|style-mod|vscode-languageserver-types|w3c-keyname)[\\/]|\/schema\.graphql/

export default defineConfig({
  // The server has the files of all tenants here; their names have a hash of the content.
  base: '/assets/console/',
  plugins: [relay, withoutUnusedModules],
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    assetsDir: '.',
    manifest: 'manifest.json',
    // An inlined file would need an exception in the Content Security Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    rolldownOptions: {
      input: ['index.html', 'reference.html'],
      output: {
        // One file of what the first screen needs compresses better than two. The other packages come when they are needed.
        codeSplitting: {
          groups: [
            { name: 'editor', test: EDITOR_MODULES },
            { name: 'vendor', test: /node_modules[\\/](?!graphql-ws|dpop|swagger-ui-dist)/ },
            { name: 'first', test: FIRST_MODULES },
          ],
        },
      },
    },
  },
})
