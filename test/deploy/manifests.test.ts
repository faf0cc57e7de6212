import { execFile } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { readConfig } from '../../src/boot/read-config.ts'
import { needsPrograms } from '../support/needs.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const FOLDER = 'deploy/kubernetes'
const KUSTOMIZATION = 'kustomization.yaml'

interface Manifest {
  apiVersion: string
  kind: string
  // biome-ignore lint/suspicious/noExplicitAny: The schema checker knows the shape.
  spec: any
}

const readYaml = async (name: string) =>
  parseAllDocuments(await readFile(join(FOLDER, name), 'utf8')).map(document => document.toJS())

t.test('every Kubernetes manifest has the shape of its kind', async t => {
  const names = (await readdir(FOLDER)).filter(name => name !== KUSTOMIZATION)
  const [{ resources }] = (await readYaml(KUSTOMIZATION)) as [{ resources: string[] }]
  t.same(resources.toSorted(), names.toSorted())
  const manifests = (await Promise.all(names.map(readYaml))).flat() as Manifest[]
  for (const manifest of manifests) {
    const models = await import(`kubernetes-models/${manifest.apiVersion}`)
    const model = new models[manifest.kind](manifest)
    t.doesNotThrow(() => model.validate(), manifest.kind)
  }
  // Secrets are named, and never in a file.
  t.same(manifests.map(({ kind }) => kind).toSorted(), ['Namespace', 'NetworkPolicy', 'Service', 'StatefulSet'])
})

t.test('the Kubernetes manifests fit together', async t => {
  const [set] = (await readYaml('stateful-set.yaml')) as [Manifest]
  const [service] = (await readYaml('service.yaml')) as [Manifest]
  const [policy] = (await readYaml('network-policy.yaml')) as [Manifest]
  const [{ images, configMapGenerator }] = await readYaml(KUSTOMIZATION)
  const pod = set.spec.template
  const [container] = pod.spec.containers
  const [port] = container.ports
  t.equal(set.spec.replicas, 1, 'the embedded log belongs to one machine')
  for (const labels of [set.spec.selector.matchLabels, service.spec.selector, policy.spec.podSelector.matchLabels])
    t.match(pod.metadata.labels, labels)
  t.equal(service.spec.ports[0].targetPort, port.name)
  t.equal(policy.spec.ingress[0].ports[0].port, port.name)
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe'])
    t.equal(container[probe].httpGet.port, port.name)
  t.match(container.securityContext, { readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } })
  t.equal(container.image, images[0].name)
  t.equal(container.envFrom[0].configMapRef.name, configMapGenerator[0].name)
  const settings = configMapGenerator[0].literals.map((literal: string) => literal.split('='))
  t.doesNotThrow(() => readConfig(Object.fromEntries(settings)))
})

t.test('systemd accepts the unit, and finds little to exploit', needsPrograms('systemd-analyze'), async t => {
  // systemd looks for the program.
  const unit = join(await temporaryFolder(t), 'tollgate.service')
  const text = await readFile('deploy/tollgate.service', 'utf8')
  await writeFile(unit, text.replace('/usr/bin/node', process.execPath))
  const analyze = (...args: string[]) => promisify(execFile)('systemd-analyze', [...args, unit])
  const { stderr } = await analyze('verify')
  t.equal(stderr, '')
  // Of 10.0 points of exposure.
  t.match((await analyze('security', '--offline=true', '--threshold=20')).stdout, /Overall exposure level/)
})
