# Writes the software bill of materials (SPDX) of the library during its installation.
# A library with CUDA contains code of others: the static runtime of NVIDIA and CUB.
# Parameters: library, version, cuda (the version of the toolkit, or empty), template, output.
get_filename_component(name ${library} NAME)
file(SHA256 ${library} sha256)
string(TIMESTAMP created UTC)  # or SOURCE_DATE_EPOCH

set(linked_packages)
set(linked_relationships)
set(linked_licences)
if(cuda)
  set(linked_packages [[,
    {
      "SPDXID": "SPDXRef-cudart",
      "name": "cudart_static",
      "versionInfo": "@cuda@",
      "supplier": "Organization: NVIDIA Corporation",
      "downloadLocation": "NOASSERTION",
      "filesAnalyzed": false,
      "licenseConcluded": "LicenseRef-NVIDIA-Proprietary",
      "licenseDeclared": "LicenseRef-NVIDIA-Proprietary",
      "copyrightText": "NOASSERTION",
      "primaryPackagePurpose": "LIBRARY"
    },
    {
      "SPDXID": "SPDXRef-cub",
      "name": "cub",
      "versionInfo": "of CUDA @cuda@",
      "supplier": "Organization: NVIDIA Corporation",
      "downloadLocation": "NOASSERTION",
      "filesAnalyzed": false,
      "licenseConcluded": "BSD-3-Clause",
      "licenseDeclared": "BSD-3-Clause",
      "copyrightText": "NOASSERTION",
      "primaryPackagePurpose": "LIBRARY"
    }]])
  string(CONFIGURE "${linked_packages}" linked_packages @ONLY)
  set(linked_relationships [[,
    {"spdxElementId": "SPDXRef-libgather", "relationshipType": "STATIC_LINK", "relatedSpdxElement": "SPDXRef-cudart"},
    {"spdxElementId": "SPDXRef-libgather", "relationshipType": "STATIC_LINK", "relatedSpdxElement": "SPDXRef-cub"}]])
  set(linked_licences [=[,
  "hasExtractedLicensingInfos": [
    {
      "licenseId": "LicenseRef-NVIDIA-Proprietary",
      "extractedText": "End User License Agreement of the NVIDIA CUDA Toolkit, attachment A: redistributable."
    }
  ]]=])
endif()
configure_file(${template} ${output} @ONLY)
message(STATUS "Installing: ${output}")
