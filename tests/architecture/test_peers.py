"""The page about the checks of other tools names each rule of mcpscore 1.29.0."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "peers.md"
_NAMES = """
    auth_authorization_servers_https auth_challenge_references_metadata auth_client_registration_advertised
    auth_invalid_token_rejected auth_iss_parameter_supported auth_metadata_https auth_protected_resource_metadata
    auth_scopes_advertised auth_server_metadata_pkce auth_server_metadata_present auth_token_not_in_query
    auth_www_authenticate capability_prompts_list_changed capability_prompts_present
    capability_resources_list_changed capability_resources_present capability_tools_list_changed
    capability_tools_present catalog_cross_tool_directives catalog_exfiltration_links catalog_hidden_unicode
    catalog_no_embedded_secrets catalog_prompt_injection_phrasing package_description_present
    package_license_declared package_not_withdrawn package_repository_declared package_resolves
    package_version_resolves pagination_cache_scope_consistent pagination_prompts_invalid_cursor
    pagination_resource_templates_invalid_cursor pagination_resources_invalid_cursor pagination_tools_invalid_cursor
    prompts_argument_names_present prompts_argument_names_unique prompts_arguments_documented
    prompts_catalog_connection_independent prompts_description_present prompts_icons_valid prompts_names_unique
    prompts_titles_present protocol_version_allowed protocol_version_latest protocol_version_not_deprecated
    protocol_version_supported_versions_include_negotiated readiness_2026_cache_metadata
    readiness_2026_deprecated_features readiness_2026_error_code_migration readiness_2026_header_validation
    readiness_2026_meta_validation readiness_2026_missing_method_header_rejected
    readiness_2026_missing_protocol_version_rejected readiness_2026_no_get_stream readiness_2026_no_session_id
    readiness_2026_prompt_name_header_mismatch_rejected readiness_2026_removed_methods
    readiness_2026_resource_name_header_mismatch_rejected readiness_2026_response_content_type
    readiness_2026_result_type readiness_2026_server_discover readiness_2026_skills_list_cache_hints
    readiness_2026_stateless_request readiness_2026_supported_versions readiness_2026_tool_schema_dialect
    readiness_2026_unknown_method_error readiness_2026_unsupported_version_error
    resource_templates_annotations_valid resource_templates_description_present resource_templates_icons_valid
    resource_templates_mime_types_valid resource_templates_names_present resource_templates_titles_present
    resource_templates_unique resource_templates_uri_templates_valid resources_annotations_valid
    resources_catalog_connection_independent resources_description_present resources_icons_valid
    resources_mime_types_valid resources_names_present resources_sizes_valid resources_titles_present
    resources_uris_unique resources_uris_valid security_error_data_leak security_host_header_validation
    security_local_bind_loopback security_malformed_request_handling security_origin_validation security_tls_enabled
    server_exposes_primitive server_icons_present server_instructions_present server_instructions_tool_references
    server_name_present server_title_present server_version_present server_websiteurl_present
    skills_allowed_tools_valid skills_digest_integrity skills_directory_read skills_entries_well_formed
    skills_frontmatter_matches skills_get_supported skills_get_unknown_rejected skills_hidden_unicode
    skills_list_supported skills_name_matches_uri skills_name_valid skills_no_embedded_secrets
    skills_openai_import_limits skills_prompt_injection_phrasing skills_references_resolve
    skills_resources_capability skills_resources_manifest skills_skill_file_length skills_skill_file_metadata
    skills_within_limits tools_annotations_destructive_declared tools_annotations_hints_consistent
    tools_annotations_present tools_annotations_read_only_declared tools_catalog_connection_independent
    tools_description_present_in_all tools_descriptions_informative tools_descriptions_unique
    tools_execution_consistent tools_icons_valid tools_input_defaults_match_type tools_input_properties_documented
    tools_input_schema_valid tools_mcp_headers_not_sensitive tools_mcp_headers_primitive_types
    tools_mcp_headers_statically_reachable tools_mcp_headers_unique tools_mcp_headers_valid_names
    tools_name_present_in_all tools_names_unique tools_names_valid_format tools_output_properties_documented
    tools_output_schema_root_object tools_output_schema_valid tools_title_present_in_all
    transport_get_stream_contract transport_invalid_request_error_code transport_invalid_request_rejected
    transport_notification_accepted transport_session_delete transport_streamable_http
"""
RULES = _NAMES.split()


def first_cells() -> Iterator[str]:
    table = PAGE.read_text("utf-8").partition("| rules of mcpscore |")[2].partition("\n\n")[0]
    yield from (line.split("|")[1] for line in table.splitlines()[2:])


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def naming(rule: str) -> str:
    """The longest name or pattern of the page that stands for a rule; empty when there is none."""
    found = (name for cell in first_cells() for name in names(cell) if fnmatchcase(rule, name))
    return max(found, key=len, default="")


def test_every_rule_is_named() -> None:
    assert (len(RULES), [rule for rule in RULES if not naming(rule)]) == (150, [])


def test_every_name_stands_for_a_rule_and_no_name_stands_in_two_rows() -> None:
    listed = Counter(name for cell in first_cells() for name in names(cell))

    assert {name: count for name, count in listed.items() if count > 1} == {}
    assert listed.keys() - {naming(rule) for rule in RULES} == set()


def test_the_numbers_of_the_page_count_the_rules_of_their_patterns() -> None:
    found = Counter(naming(rule) for rule in RULES)
    stated = {cell: int(number[1]) for cell in first_cells() if (number := re.search(r"\((\d+)\)", cell))}
    counted = {cell: sum(found[name] for name in names(cell) if "*" in name) for cell in stated}

    assert counted == stated
    assert len(stated) >= 9
